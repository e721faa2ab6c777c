import { expect } from 'chai';
import { type UpdatePair, updatePairs } from '../../../test/support/update-pairs.ts';
import type { DataItem } from '../../common/domain/data-item.ts';
import { dataItemId } from '../../common/kernel/ids.ts';
import { judge } from '../../common/text/statements/judge.ts';
import { itemStatements } from '../pipeline/text-tasks.ts';

const PAIRS = updatePairs(300);

function stated(id: string, text: string, at: string) {
  const item = { id: dataItemId(id), externalMetadata: {}, ownerId: 'u' } as unknown as DataItem;
  return itemStatements({ item, createdAt: at }, [{ id: `${id}-chunk`, text, headings: [] }], { entities: [] });
}

/** Everything that was ever said, judged together as a dataset does. */
async function judgeAll(pairs: readonly UpdatePair[]) {
  const read = pairs.flatMap(({ older, newer }, at) => [
    stated(`older-${at}`, older, '2030-01-01T00:00:00.000Z'),
    stated(`newer-${at}`, newer, '2031-01-01T00:00:00.000Z'),
  ]);
  const statements = (await Promise.all(read)).flat();
  return [...Map.groupBy(statements, ({ key }) => key).values()].flatMap((group) => judge(group));
}

describe('supersession of 300 pairs', () => {
  let judgements: Awaited<ReturnType<typeof judgeAll>>;
  let retired: ReadonlySet<string>;
  before(async () => {
    judgements = await judgeAll(PAIRS);
    retired = new Set(judgements.map(({ older }) => older.item));
  });

  it('supersedes no statement that is still true', () => {
    const wrong = PAIRS.flatMap((pair, at) => {
      const isTrap = pair.kind === 'trap';
      const gone = retired.has(`newer-${at}`) || (isTrap && retired.has(`older-${at}`));
      return gone ? [`${pair.why}: ${pair.older} / ${pair.newer}`] : [];
    });
    expect(wrong).to.deep.equal([]);
  });

  it('supersedes each statement by one about the same subject', () => {
    for (const { older, newer } of judgements) {
      expect(newer.item).to.equal(older.item.replace('older', 'newer'));
    }
  });

  it('recognises most updates, and all of the plain kinds', () => {
    const missed = PAIRS.flatMap((pair, at) => (pair.kind === 'update' && !retired.has(`older-${at}`) ? [pair] : []));
    const updates = PAIRS.filter(({ kind }) => kind === 'update').length;
    expect(
      missed.filter(({ why }) => !why.startsWith('beyond')).map(({ older, newer }) => `${older} / ${newer}`),
    ).to.deep.equal([]);
    expect(1 - missed.length / updates).to.be.above(0.9);
  });

  it('has the same result in any order of the statements', async () => {
    const pairs = PAIRS.filter(({ kind }) => kind === 'update');
    const ids = (all: typeof judgements) => all.map(({ older, newer }) => `${older.text}>${newer.text}`).sort();
    expect(ids(await judgeAll(pairs.toReversed()))).to.deep.equal(ids(await judgeAll(pairs)));
  });
});

describe('supersession within one add', () => {
  const AT = '2026-05-01T00:00:00.000Z';
  const replaced = async (...texts: readonly string[]) => {
    const said = await Promise.all(texts.map((text, at) => stated(`item-${at}`, text, AT)));
    return [...Map.groupBy(said.flat(), ({ key }) => key).values()]
      .flatMap((group) => judge(group))
      .map(({ older, newer }) => `${older.valueText} > ${newer.valueText}`);
  };

  it('lets a later sentence that says since when replace an earlier one of its text', async () => {
    expect(await replaced('The user lives in Hamburg. Since 2024 the user lives in Leipzig.')).to.deep.equal([
      'Hamburg > Leipzig',
    ]);
  });

  it('lets a text that says since when replace one that does not, in any order', async () => {
    const texts = ['The user lives in Hamburg.', 'Since 2024 the user lives in Leipzig.'];
    expect(await replaced(...texts)).to.deep.equal(['Hamburg > Leipzig']);
    expect(await replaced(...texts.toReversed())).to.deep.equal(['Hamburg > Leipzig']);
  });

  it('lets the later of two starts win, whichever comes first', async () => {
    expect(await replaced('Since 2024 the user lives in Leipzig. Since 2019 the user lives in Hamburg.')).to.deep.equal(
      ['Hamburg > Leipzig'],
    );
  });

  it('keeps both of two texts that state no change', async () => {
    expect(await replaced('The user lives in Hamburg.', 'The user lives in Leipzig.')).to.deep.equal([]);
  });

  it('reads a statement beside another clause about the same subject', async () => {
    const moved = 'Ada Berg now lives in Porto.';
    for (const text of [
      'Ada Berg lives in Bergen and works at Equinor.',
      'Ada Berg has two children and lives in Bergen.',
      'Ada Berg lives in Bergen, where she works at Equinor.',
      'Ada Berg lives in Bergen, and loves the rain.',
    ])
      expect(await replaced(text, moved), text).to.deep.equal(['Bergen > Porto']);
  });

  it('reads no clause of another subject, and no value with an and of its own', async () => {
    for (const text of [
      'Ada Berg lives in Bergen and Oslo.',
      'Ada Berg knows Bob, and Eve lives in Bergen.',
      'Ada Berg lives in Bergen or works in Oslo.',
      'Ada Berg lived in Bergen and works at Equinor.',
    ])
      expect(await replaced(text, 'Ada Berg now lives in Porto.'), text).to.deep.equal([]);
    expect(await replaced('Ada Berg prefers tea and likes biscuits.', 'Ada Berg now prefers coffee.')).to.deep.equal(
      [],
    );
  });
});
