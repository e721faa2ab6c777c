import { expect } from 'chai';
import { createSearchWorld, type SearchWorld, type WorldPassage } from '../../../test/support/search-world.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { createRetriever } from './pipeline.ts';
import type { RetrievalRequest } from './retrieval.ts';
import { DEFAULT_SETTINGS, type RetrievalSettings } from './settings.ts';

const SONG = {
  title: 'Hello Love (song)',
  text: '"Hello Love" is a 1974 single by Hank Snow. It was his seventh number one on the country charts.',
};
const SINGER = {
  title: 'Hank Snow',
  text: 'Clarence Eugene Snow lived in the city of Nashville, Tennessee, from 1949 until his death.',
};
const NOISE: readonly WorldPassage[] = [
  { title: 'Love Street', text: 'The single "Love Street" was released and stayed on the charts for a week.' },
  { title: 'Say Hello', text: 'Say Hello is a song about love by a performer from London.' },
  { title: 'Oslo', text: 'Oslo is the capital of Norway. Its opera house stands at the water.' },
  { title: 'Rivers', text: 'The Nile flows through Egypt. Cairo lies on it.' },
];

describe('retrieval', () => {
  let world: SearchWorld;
  let dataset: DatasetRef;

  beforeEach(async () => {
    world = await createSearchWorld();
    dataset = world.dataset('notes');
  });

  async function ask(query: string, more: Partial<RetrievalRequest> & { settings?: Partial<RetrievalSettings> } = {}) {
    const { settings, ...request } = more;
    const scope = scopeOf(dataset);
    const [vector = null] = await world.embedder.embed([query], { scope, purpose: 'query' });
    const retriever = createRetriever({
      indexes: world.indexes,
      ledger: world.ledger,
      settings: { ...DEFAULT_SETTINGS, ...settings },
    });
    return retriever.retrieve({ scope, query, vector, limit: 5, ...request });
  }

  const titles = async (...request: Parameters<typeof ask>) =>
    (await ask(...request)).passages.map((passage) => passage.payload.documentName);

  it('finds the second passage of a chain, which shares no name with the question', async () => {
    await world.fill(dataset, [SONG, SINGER, ...NOISE]);
    const query = 'In which city did the performer of Hello Love live?';
    expect((await titles(query)).slice(0, 2)).to.deep.equal(['Hello Love (song)', 'Hank Snow']);
    expect((await titles(query, { settings: { bridgeSeeds: 0 } })).slice(0, 2)).not.to.include('Hank Snow');
  });

  it('finds the one of few passages that says in other words what is asked, however far its vector is', async () => {
    await world.fill(dataset, [
      { title: 'bank', text: 'The bank lent us 30,000 pounds, which we pay back over seven years.' },
      { title: 'bakery', text: 'I run a small bakery on Harbour Road with my cousin Yusuf.' },
      { title: 'oven', text: 'The oven is a second-hand Wachtel that cost us 14,000 pounds in 2021.' },
      ...NOISE,
    ]);
    const [vector] = await world.embedder.embed(['bakery oven'], { scope: scopeOf(dataset), purpose: 'query' });
    const opposite = (vector ?? new Float32Array()).map((value) => -value);
    expect((await titles('How much is our loan?', { vector: opposite }))[0]).to.equal('bank');
  });

  it('explains which lanes found a passage, and which passage completes it', async () => {
    await world.fill(dataset, [SONG, SINGER, ...NOISE]);
    const { passages } = await ask('In which city did the performer of Hello Love live?');
    const [song, singer] = passages;
    expect(song?.explanation.lanes).to.include.keys('lexical', 'dense', 'sentence', 'entity');
    expect(song?.explanation.lanes.lexical?.rank).to.be.a('number');
    expect(singer?.explanation.partner).to.equal(song?.id);
    expect(singer?.explanation.via).to.be.a('string');
    expect(singer?.explanation.evidence).to.be.greaterThan(singer?.explanation.own ?? 0);
  });

  it('finds a memory that says it in other words', async () => {
    const dog = { title: 'Rex', text: 'Rex was a German Shepherd, our family dog for many years.' };
    const trip = {
      title: 'Family trip',
      text: 'Of my childhood I remember the family trip to the lake, and what breed of cow we saw.',
    };
    await world.fill(dataset, [trip, dog, ...NOISE]);
    const query = 'What was our family hound?';
    expect((await titles(query))[0]).to.equal('Rex');
    const { passages } = await ask(query);
    expect(passages[0]?.explanation.lanes).to.include.keys('meaning');
    expect(passages[0]?.relevance).to.be.within(0.5, 1);
    expect(passages.at(-1)?.relevance).to.be.below(0.3);
  });

  it('finds a memory that shares no word with the question', async () => {
    const jam = { title: 'Stall', text: 'Gooseberry jam sells first at the street market.' };
    const van = { title: 'Notes of May', text: 'The truck broke down near the lake.' };
    await world.fill(dataset, [jam, van, ...NOISE]);
    // Without a vector: the passage is found by its words alone.
    const { passages } = await ask('Which vehicle do we own?', { vector: null });
    expect(passages.map(({ payload }) => payload.documentName)).to.deep.equal(['Notes of May']);
    expect(passages[0]?.relevance).to.be.greaterThan(0.3);
  });

  it('shows no rows that the ledger has not committed, from any lane', async () => {
    await world.fill(dataset, NOISE);
    await world.write(dataset, SONG);
    await world.write(dataset, SINGER);
    const found = await titles('In which city did the performer of Hello Love, Hank Snow, live?');
    expect(found).not.to.include.members(['Hello Love (song)']);
    expect(found).not.to.include.members(['Hank Snow']);
  });

  it('shows nothing of an item once it is erased', async () => {
    const [song] = await world.fill(dataset, [SONG, ...NOISE]);
    expect(await titles('Hello Love')).to.include('Hello Love (song)');
    await world.forget(dataset, song as NonNullable<typeof song>);
    expect(await titles('Hello Love')).not.to.include('Hello Love (song)');
  });

  it('filters by node sets, for linked passages too', async () => {
    await world.fill(dataset, [{ ...SONG, nodeSets: ['music'] }, { ...SINGER, nodeSets: ['people'] }, ...NOISE]);
    const query = 'In which city did the performer of Hello Love live?';
    expect(await titles(query, { nodeSets: ['music'] })).to.deep.equal(['Hello Love (song)']);
  });

  it('finds nothing of another dataset', async () => {
    await world.fill(world.dataset('other'), [SONG, SINGER]);
    await world.fill(dataset, NOISE);
    expect(await titles('Hello Love by Hank Snow')).not.to.include.members(['Hank Snow']);
  });

  it('ranks the passage about a named entity before those that mention it', async () => {
    await world.fill(dataset, [
      { title: 'Annual list', text: 'The list names the bassist Mark King and the singer Nick Hexum.' },
      { title: 'Mark King (musician)', text: 'The English bassist was born in 1958 and sings.' },
      ...NOISE,
    ]);
    expect((await titles('Was Mark King born in England?'))[0]).to.equal('Mark King (musician)');
  });

  it('finds passages without a common word by vector', async () => {
    await world.fill(dataset, [{ title: 'a', text: 'Electromagnetically induced phenomena.' }, ...NOISE]);
    const { passages } = await ask('electromagnetism inducing');
    expect(passages[0]?.payload.documentName).to.equal('a');
    expect(passages[0]?.explanation.lanes).to.have.property('dense');
  });

  it('prefers passages dated in the time window of the question', async () => {
    await world.fill(dataset, [
      { title: 'old', text: 'The board meeting approved the budget in 1999.', dates: ['1999'] },
      { title: 'new', text: 'The board meeting approved the budget on 3 May 2004.', dates: ['2004-05-03'] },
      ...NOISE,
    ]);
    const query = 'What did the board meeting approve between 2003 and 2005?';
    expect((await titles(query))[0]).to.equal('new');
    const [first] = (await ask(query)).passages;
    expect(first?.explanation.lanes).to.have.property('time');
  });

  it('collapses near-duplicates, with their support', async () => {
    const long = 'The committee agreed that the bridge over the river stays closed for repairs until the work is done.';
    await world.fill(dataset, [{ title: 'a', text: long }, { title: 'b', text: `${long} ` }, ...NOISE]);
    const { passages } = await ask('Is the bridge closed for repairs?');
    expect(passages.filter((passage) => passage.payload.text.startsWith('The committee'))).to.have.length(1);
    expect(passages[0]?.support).to.equal(2);
  });

  it('returns nothing for a query without words, and for an empty dataset', async () => {
    expect((await ask('?!', { vector: null })).passages).to.deep.equal([]);
    await world.fill(dataset, NOISE);
    expect((await ask('?!', { vector: null })).passages).to.deep.equal([]);
  });

  it('returns as many passages as requested, beyond the usual length of its lanes', async () => {
    const many = Array.from({ length: 180 }, (_, at) => ({ title: `n${at}`, text: `Report ${at} about the harvest.` }));
    await world.fill(dataset, many);
    expect((await ask('harvest', { limit: 170 })).passages).to.have.length(170);
  });

  it('accepts any text as a query', async () => {
    await world.fill(dataset, NOISE);
    for (const query of [
      '"',
      "NEAR(' OR *",
      'a"b:c-d^e',
      '\u0000',
      '\ud800',
      'x '.repeat(5000),
      '日本語の川',
      '-- ; DROP',
    ]) {
      expect((await ask(query)).passages).to.be.an('array');
    }
  });
});
