import { expect } from 'chai';
import { createKeyedBatches, type KeyedTask } from './keyed-batches.ts';

interface Task extends KeyedTask {
  readonly name: string;
}

describe('keyed batches', () => {
  const task = (name: string, ...keys: readonly string[]): Task => ({ name, keys: new Set(keys) });
  const settle = () => new Promise((resolve) => setImmediate(resolve));

  function start() {
    const groups: string[] = [];
    const ends: (() => void)[] = [];
    const add = createKeyedBatches<Task>({
      run(group) {
        groups.push(group.map(({ name }) => name).join('+'));
        return new Promise((resolve) => ends.push(resolve));
      },
      fits: (group) => group.length < 3,
    });
    return {
      groups,
      add,
      async endFirst() {
        ends.shift()?.();
        await settle();
      },
    };
  }

  it('let those of one key wait, and go on together', async () => {
    const { groups, add, endFirst } = start();
    for (const name of ['a', 'b', 'c', 'd', 'e']) add(task(name, 'one'));
    expect(groups).to.deep.equal(['a']);
    await endFirst();
    expect(groups).to.deep.equal(['a', 'b+c+d']);
    await endFirst();
    expect(groups).to.deep.equal(['a', 'b+c+d', 'e']);
  });

  it('let those of other keys pass', () => {
    const { groups, add } = start();
    add(task('a', 'one'));
    add(task('b', 'one'));
    add(task('c', 'two'));
    expect(groups).to.deep.equal(['a', 'c']);
  });

  it('let nobody overtake who waits for several', async () => {
    const { groups, add, endFirst } = start();
    add(task('a', 'one'));
    add(task('both', 'one', 'two'));
    add(task('c', 'two'));
    expect(groups, 'the second key is free, but spoken for').to.deep.equal(['a']);
    await endFirst();
    expect(groups).to.deep.equal(['a', 'both+c']);
  });
});
