import { expect } from 'chai';
import fc from 'fast-check';
import { mergePatch } from '../../test/support/kube/fake-store.ts';
import { type Condition, conditionMessage, mergeConditions, namesInMessage, unknownConditions } from './conditions.ts';
import { statusPatch } from './reconcile-frame.ts';

const at = (seconds: number) => new Date(Date.UTC(2026, 7, 1, 0, 0, seconds));
const ready = (fields: Partial<Condition>): Condition => ({
  type: 'Ready',
  status: 'True',
  reason: 'Available',
  message: 'All is well',
  lastTransitionTime: '2026-08-01T00:00:00Z',
  observedGeneration: 1,
  ...fields,
});

describe('conditions', () => {
  it('moves lastTransitionTime only when the status changes', () => {
    const held = [ready({})];
    const other = { type: 'Ready', status: 'True', reason: 'Hibernated', message: 'Asleep' } as const;
    const [same] = mergeConditions(held, [other], { now: at(9), observedGeneration: 2 });
    expect(same).to.deep.equal(ready({ reason: 'Hibernated', message: 'Asleep', observedGeneration: 2 }));
    const [changed] = mergeConditions(held, [{ ...other, status: 'False' }], { now: at(9), observedGeneration: 2 });
    expect(changed?.lastTransitionTime).to.equal('2026-08-01T00:00:09Z');
  });

  it('keeps other conditions, drops removed ones, and sorts by type', () => {
    const held = [ready({}), ready({ type: 'Stalled' }), ready({ type: 'Fresh', status: 'Unknown' })];
    const next = mergeConditions(held, [], { now: at(1), observedGeneration: 7 }, ['Stalled']);
    expect(next.map(({ type }) => type)).to.deep.equal(['Fresh', 'Ready']);
    expect(next[1]).to.deep.equal(held[0]);
  });

  it('adds Unknown conditions only before the first reconcile', () => {
    const drafts = unknownConditions([ready({})], ['Ready', 'Fresh']);
    expect(drafts.map(({ type, status }) => [type, status])).to.deep.equal([['Fresh', 'Unknown']]);
  });

  it('shortens messages to one line of 200 characters without a period', () => {
    expect(conditionMessage('The store\n is  down.')).to.equal('The store is down');
    expect(conditionMessage('x'.repeat(300)))
      .to.have.length(200)
      .and.match(/…$/);
    expect(namesInMessage(['d', 'a', 'c', 'b'], 2)).to.equal('a, b and 2 more');
    expect(namesInMessage(['b', 'a'])).to.equal('a, b');
  });
});

describe('status patch', () => {
  it('makes no patch when only volatile fields differ', () => {
    const before = { stats: { items: 1 }, checkedAt: 'then' };
    expect(statusPatch(before, { stats: { items: 1 }, checkedAt: 'now' }, ['checkedAt'])).to.equal(null);
    expect(statusPatch(before, { stats: { items: 2 }, checkedAt: 'now' }, ['checkedAt'])).to.deep.equal({
      stats: { items: 2 },
      checkedAt: 'now',
    });
  });

  it('sets removed fields to null, also inside objects, and replaces lists', () => {
    const before = { writer: { holder: 'a', token: 1 }, list: [1, 2], old: true };
    const next = { writer: { holder: 'b' }, list: [2] };
    expect(statusPatch(before, next)).to.deep.equal({ writer: { token: null, holder: 'b' }, list: [2], old: null });
  });

  it('makes a patch from any status to any other, and none between equal ones', () => {
    const leaf = fc.oneof(fc.string({ maxLength: 3 }), fc.integer({ min: 0, max: 3 }), fc.boolean());
    const { status } = fc.letrec((tie) => ({
      value: fc.oneof({ depthSize: 'small' }, leaf, fc.array(leaf, { maxLength: 2 }), tie('status')),
      status: fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), tie('value'), { maxKeys: 3 }),
    }));
    const record = status as fc.Arbitrary<Record<string, unknown>>;
    fc.assert(
      fc.property(record, record, (before, next) => {
        const patch = statusPatch(before, next);
        expect(mergePatch(before, patch ?? {})).to.deep.equal(next);
        expect(statusPatch(next, next)).to.equal(null);
      }),
      { numRuns: 500 },
    );
  });

  it('treats undefined as absent', () => {
    expect(statusPatch({ a: { b: 1 } }, { a: { b: 1, c: undefined }, d: undefined })).to.equal(null);
  });
});
