import { expect } from 'chai';
import { createSearchWorld, OWNER, type SearchWorld, startSearch } from '../../../test/support/search-world.ts';
import { forgottenAtTurn, movedWeight } from '../../common/domain/preference.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { edgeId, idFor } from '../../common/kernel/ids.ts';
import { recordCollections } from '../../common/records/collections.ts';
import { createElementWeights } from '../../common/records/improve/element-weights.ts';
import { createPreferences } from '../../common/records/improve/preferences.ts';
import type { DocumentStore } from '../../common/storage/ports/document-store.ts';
import type { RankedPassage } from '../model.ts';
import { createLearnedElements, type InfluenceOptions, shiftsOf } from './learned-weights.ts';
import { createRetriever } from './pipeline.ts';
import type { Retrieval } from './retrieval.ts';

const NAMES = `Alder Birch Cedar Dogwood Elm Fir Ginkgo Hazel Ivy Juniper Kapok Larch Maple Nutmeg Oak Pine Quince Rowan
  Spruce Teak Ulmus Vine Willow Yew Zelkova Acacia Bamboo Cypress Ebony Fern Gorse Holly Iris Jasmine Kauri Laurel
  Myrtle Nettle Olive Poplar`.split(/\s+/u);
const MONTHS = ['January', 'March', 'May', 'July', 'September'];
const CITIES = ['Oslo', 'Lisbon', 'Quito', 'Hanoi', 'Tunis'];
const pick = (list: readonly string[], at: number) => list[at % list.length] ?? '';

/** Twenty questions that two facts answer, one as well as the other, and twenty that one does: sixty facts. */
const PAIRED = NAMES.slice(0, 20).map((name, at) => ({
  question: `When is the launch of Project ${name} planned?`,
  facts: [
    `The launch of Project ${name} is planned for ${pick(MONTHS, at)}, says the board.`,
    `The launch of Project ${name} is planned for ${pick(MONTHS, at + 1)}, says the team.`,
  ],
}));
const SINGLE = NAMES.slice(20, 30).map((name, at) => ({
  question: `Where does the ${name} group have its office?`,
  facts: [`The ${name} group has its office in ${pick(CITIES, at)} since ${1990 + at}.`],
}));

/** About the same names as the first ten pairs. */
const SAME_NAMES = NAMES.slice(0, 10).map((name, at) => ({
  question: `Who leads Project ${name}?`,
  facts: [`Project ${name} is led by ${pick(NAMES, 30 + at)} Jensen, who came from ${pick(CITIES, at)}.`],
}));
const QUESTIONS = [...PAIRED, ...SINGLE, ...SAME_NAMES];
const PASSAGES = QUESTIONS.flatMap(({ facts }, at) =>
  facts.map((text, which) => ({ title: `note ${at}.${which}`, text })),
);

/** Pairs that are taught before all questions are asked again. */
const GROUP = 5;

const NOW = { now: () => new Date('2026-01-02T03:04:05.000Z'), monotonicMs: () => performance.now() };
const FEEDBACK: InfluenceOptions = { feedback: 0.5, preferences: null };
const PERSONAL: InfluenceOptions = { feedback: 0, preferences: { user: OWNER.id, influence: 0.3, beta: 0.02 } };

/** Without decay: turns move what was preferred before, too. */
const LASTING: InfluenceOptions = { feedback: 0, preferences: { user: OWNER.id, influence: 0.3, beta: 0 } };

/** A clock of its own, so that nothing is remembered from one look to the next. */
function restless() {
  let at = 0;
  return {
    ...NOW,
    monotonicMs: () => {
      at += 2000;
      return at;
    },
  };
}

function counting(store: DocumentStore) {
  const reads: string[] = [];
  const noted: DocumentStore = {
    ...store,
    get: (scope, collection, id) => {
      reads.push(collection.name);
      return store.get(scope, collection, id);
    },
    getMany: (scope, collection, ids) => {
      reads.push(collection.name);
      return store.getMany(scope, collection, ids);
    },
    find: (scope, collection, query) => {
      reads.push(collection.name);
      return store.find(scope, collection, query);
    },
  };
  return { store: noted, reads };
}

describe('learned weights', () => {
  let world: SearchWorld;
  let dataset: DatasetRef;
  beforeEach(async () => {
    world = await createSearchWorld();
    await world.store.prepare(recordCollections);
    dataset = world.dataset('notes');
  });

  const retriever = (store = world.store, clock = restless()) =>
    createRetriever({ indexes: world.indexes, ledger: world.ledger, learned: createLearnedElements(store, clock) });

  async function ask(query: string, influence: InfluenceOptions, by = retriever(), limit = 5): Promise<Retrieval> {
    const scope = scopeOf(dataset);
    const [vector = null] = await world.embedder.embed([query], { scope, purpose: 'query' });
    return by.retrieve({ scope, query, vector, limit, influence });
  }

  const ids = ({ passages }: Retrieval) => passages.map(({ id }) => id);
  const topFives = async (influence: InfluenceOptions) => {
    const by = retriever();
    const found: (readonly string[])[] = [];
    for (const { question } of QUESTIONS) found.push(ids(await ask(question, influence, by)));
    return found;
  };

  /** The nodes an answer from the passage would have used: the passage and everything named in it. */
  const elementsOf = (passage: RankedPassage, { mentions, named }: Retrieval) => [
    ...new Set([
      passage.id,
      ...mentions.filter(({ source }) => source === passage.id).map(({ target }) => target),
      ...named.filter(({ chunks }) => chunks.has(passage.id)).map(({ entityId }) => entityId),
    ]),
  ];

  let answers = 0;
  const rate = async (elements: readonly string[], score: number, times: number) => {
    const weights = createElementWeights(world.store);
    for (let vote = 0; vote < times; vote += 1) {
      answers += 1;
      await weights.cast(scopeOf(dataset), {
        session: { user: OWNER.id, session: 's1' },
        answer: { id: `answer ${answers}`, number: answers },
        vote: { score, source: 'explicit', applied: elements, attempts: 1, version: null },
        ids: elements,
        move: (weight) => movedWeight(weight, score, 0.1),
        at: '2026-01-02T03:04:05.000Z',
      });
    }
  };

  const prefer = async (elements: readonly string[], rating: number) => {
    const preferences = createPreferences(world.store);
    const scope = scopeOf(dataset);
    const known = await preferences.of(scope, OWNER.id);
    const stored = new Map((await preferences.weights(scope, OWNER.id, elements)).map((one) => [one.nodeId, one]));
    const writes = elements.map((nodeId) => {
      const before = stored.get(nodeId);
      const aging = { weight: movedWeight(before?.weight ?? 0.5, rating, 0.3), updatedAtTurn: known.turns + 1 };
      const weight = { nodeId, ...aging, forgottenAtTurn: forgottenAtTurn(aging, 0.02) };
      return preferences.weightWrite(OWNER.id, weight, before?.version ?? 0);
    });
    const preference = { ...known, turns: known.turns + 1 };
    await world.store.commit(scope, [preferences.preferenceWrite(OWNER.id, preference), ...writes]);
  };

  /** The pair's passages in their order. */
  const pairOf = ({ passages }: Retrieval, { facts }: { readonly facts: readonly string[] }) =>
    passages.filter(({ payload }) => facts.includes(payload.text));

  for (const [what, wish, teach] of [
    ['ratings', FEEDBACK, (elements: readonly string[], score: number) => rate(elements, score, 2)],
    ['preferences', LASTING, prefer],
  ] as const) {
    it(`by ${what} put the better fact first for its question, and change no top five of an unrelated one`, async () => {
      await world.fill(dataset, PASSAGES);
      let before = await topFives(wish);
      for (let group = 0; group < PAIRED.length; group += GROUP) {
        const taught = new Map<number, string>();
        for (const [offset, pair] of PAIRED.slice(group, group + GROUP).entries()) {
          const found = await ask(pair.question, wish);
          const [first, second] = pairOf(found, pair);
          if (first === undefined || second === undefined) throw new Error(`no pair for ${pair.question}`);
          await teach(elementsOf(first, found), 1);
          await teach(elementsOf(second, found), 5);
          taught.set(group + offset, second.id);
        }
        const after = await topFives(wish);
        for (const [at, { question }] of QUESTIONS.entries()) {
          const [now = [], then = []] = [after[at], before[at]];
          const preferred = taught.get(at);
          if (preferred !== undefined) expect(now[0], question).to.equal(preferred);
          // What asks about the same thing may see further passages in another order, never another answer.
          else if (taught.has(at - PAIRED.length - SINGLE.length)) expect(now[0], question).to.equal(then[0]);
          else expect(now, question).to.deep.equal(then);
        }
        before = after;
      }
    }).timeout(60_000);
  }

  it('have no effect and are not read when switched off, or when nothing was learned', async () => {
    await world.fill(dataset, PASSAGES);
    const plain = await topFives({ feedback: 0, preferences: null });
    const { store, reads } = counting(world.store);
    const held = { ...NOW, monotonicMs: () => 0 };
    const by = retriever(store, held);
    const [pair] = PAIRED;
    await ask(pair?.question ?? '', { feedback: 0, preferences: null }, by);
    expect(reads).to.deep.equal([]);
    const both = { feedback: 1, preferences: PERSONAL.preferences };
    for (const { question } of QUESTIONS.slice(0, 5)) await ask(question, both, by);
    expect(reads.toSorted()).to.deep.equal(['element_weights', 'preferences']);
    expect(await topFives(both)).to.deep.equal(plain);
    const found = await ask(pair?.question ?? '', both);
    await rate(elementsOf(found.passages[0] as RankedPassage, found), 1, 8);
    expect(await topFives({ feedback: 0, preferences: null })).to.deep.equal(plain);
  });

  it('are read in one batch per search, at most a second old', async () => {
    await world.fill(dataset, PASSAGES);
    const { store, reads } = counting(world.store);
    let now = 0;
    const by = retriever(store, { ...NOW, monotonicMs: () => now });
    const [{ question } = { question: '' }] = PAIRED;
    const found = await ask(question, FEEDBACK, by);
    const [first] = found.passages;
    await rate([first?.id ?? ''], 1, 10);
    now = 999;
    expect(ids(await ask(question, FEEDBACK, by))[0]).to.equal(first?.id);
    now = 1000;
    reads.length = 0;
    const moved = await ask(question, FEEDBACK, by, PASSAGES.length);
    expect(ids(moved)[0]).not.to.equal(first?.id);
    expect(reads.filter((name) => name === 'element_weights')).to.have.length(2);
    reads.length = 0;
    await ask(question, FEEDBACK, by);
    expect(reads.filter((name) => name === 'element_weights')).to.have.length(1);
    const shift = moved.passages.find(({ id }) => id === first?.id)?.explanation.learned;
    expect(shift?.feedback).to.be.lessThan(0);
    expect(shift?.factor).to.be.within(0.5, 0.999);
  });

  it('of one user do not affect another, nor those of one dataset another', async () => {
    await world.fill(dataset, PASSAGES);
    const plain = await topFives({ feedback: 0, preferences: null });
    const found = await ask(PAIRED[0]?.question ?? '', PERSONAL);
    await prefer(elementsOf(found.passages[0] as RankedPassage, found), 1);
    const other = { user: 'somebody' as typeof OWNER.id, influence: 1, beta: 0 };
    expect(await topFives({ feedback: 0, preferences: other })).to.deep.equal(plain);
  });

  it('change the order of statements by their edges', async () => {
    const people = ['Charles Babbage', 'Mary Somerville', 'Michael Faraday'];
    const text = people.map((name) => `Ada Lovelace met ${name}.`).join(' ');
    await world.fill(dataset, [{ title: 'ada', text }]);
    const settings = { feedbackInfluence: 0.5 };
    const met = async () => {
      await using search = await startSearch(world, [dataset], { settings });
      const body = { query: 'Whom did Ada Lovelace meet?', searchType: 'HYBRID_COMPLETION', onlyContext: true };
      const [entry] = (await (await search.app.post('/api/v1/search', body)).json()) as { search_result: string }[];
      const section = entry?.search_result.split('### Ada Lovelace')[1]?.split('###')[0] ?? '';
      return [...section.matchAll(/- Ada Lovelace met ([\w ]+)\./g)].map(([, name]) => name ?? '');
    };
    const before = await met();
    expect(before.toSorted()).to.deep.equal(people);
    const last = before.at(-1) ?? '';
    await rate([edgeId(idFor('Entity', 'Ada Lovelace'), 'relates_to', idFor('Entity', last))], 5, 3);
    expect((await met())[0]).to.equal(last);
  });

  it('are shown by explain, and stated preferences are in the prompt of a search in one dataset', async () => {
    await world.fill(dataset, PASSAGES);
    const second = world.dataset('second');
    await world.fill(second, [{ title: 'x', text: 'Nothing of interest.' }]);
    const preferences = createPreferences(world.store);
    const text = 'Answer in Norwegian.\nBe brief.';
    const preference = { text, turns: 1, textWatermark: null, version: 0 };
    await world.store.commit(scopeOf(dataset), [preferences.preferenceWrite(OWNER.id, preference)]);
    const found = await ask(PAIRED[0]?.question ?? '', FEEDBACK);
    await rate([found.passages[0]?.id ?? ''], 5, 5);
    const settings = { feedbackInfluence: 0.5, personalization: { influence: 0.3, beta: 0.02 } };
    await using search = await startSearch(world, [dataset, second], { settings });
    type Row = { feedback_weight: number; explain: { learned: { feedback: number; factor: number } } };
    const post = async (body: object) => {
      const query = PAIRED[0]?.question;
      const response = await search.app.post('/api/v1/search', { query, explain: true, ...body });
      return (await response.json()) as { search_result: unknown; explain?: { learned?: object }[] }[];
    };
    const [chunks] = await post({ searchType: 'CHUNKS', datasets: ['notes'] });
    const rows = (chunks?.search_result ?? []) as Row[];
    const [chunk] = rows;
    expect(chunk?.feedback_weight).to.be.greaterThan(0.5);
    expect(rows.at(-1)?.feedback_weight).to.equal(0.5);
    expect(chunk?.explain.learned.feedback).to.be.greaterThan(0);
    expect(chunk?.explain.learned.factor).to.be.greaterThan(1);
    const [one] = await post({ searchType: 'RAG_COMPLETION', datasets: ['notes'], onlyContext: true });
    expect(String(one?.search_result)).to.include(
      '## Preferences of the user\nStated earlier, the newest first; where two disagree the newer one wins.\n- Answer in Norwegian.\n- Be brief.',
    );
    const [several] = await post({ searchType: 'RAG_COMPLETION', datasets: ['notes', 'second'], onlyContext: true });
    expect(String(several?.search_result)).to.not.include('Preferences of the user');
  });
});

describe('score shifts by learned weights', () => {
  const learned = (feedback: Record<string, number>) => ({
    feedback: new Map(Object.entries(feedback)),
    feedbackInfluence: 0.5,
    preferences: new Map<string, number>(),
    preferenceInfluence: 0.3,
  });

  it('do not change neutral passages, nor those far below the best', () => {
    const passages = ['a', 'b', 'c'].map((id) => ({ id, entities: [] }));
    const [a, b, c] = shiftsOf(passages, [10, 9, 5], learned({ a: 0.5, b: 1, c: 1 }));
    expect([a, c]).to.deep.equal([null, null]);
    expect(b?.factor).to.be.closeTo(1 + 0.5 * 0.75, 1e-9);
  });

  it('weight an entity by a quarter, and never exceed a full weight', () => {
    const shared = shiftsOf([{ id: 'a', entities: ['e', 'f'] }], [1], learned({ e: 1, f: 1 }));
    expect(shared[0]?.feedback).to.equal(0.25);
    const both = shiftsOf([{ id: 'a', entities: ['e'] }], [1], learned({ a: 1, e: 1 }));
    expect(both[0]?.feedback).to.equal(1);
  });

  it('never make a score negative', () => {
    const [a] = shiftsOf([{ id: 'a', entities: ['e'] }], [1], { ...learned({ a: 0, e: 0 }), feedbackInfluence: 1 });
    expect(a?.factor).to.equal(0);
  });
});
