import { expect } from 'chai';
import { createSearchWorld } from '../../../test/support/search-world.ts';
import { scopeOf } from '../../common/kernel/dataset.ts';
import { NOTHING_FITS } from '../../common/text/repetition/own-answers.ts';
import { createRetriever } from '../retrieval/pipeline.ts';
import { extractiveAnswer } from './extractive.ts';
import { type Telling, tellSentence } from './told-turns.ts';

const CHAT = [
  'Mira: Hi Jon! How was your weekend?',
  'Jon: Great, I bought a canoe yesterday. It is green.',
  'Mira: Nice! Where did you get it?',
  'Jon: From a boatyard in Whitby, with my cousin.',
  'Mira: My sister Petra rows, too. She won a regatta last Friday.',
  'Jon: Wow, tell her congrats! You should join her club, Mira.',
  'Mira: How about a picnic by the lake on Sunday?',
  'Jon: Sounds good, I will bring the salad.',
  'Jon: Are you coming to my cousin’s show?',
  'Mira: When?',
  'Jon: 20 June, in the old mill.',
  'Jon: I sold my motorbike btw',
  'Mira: why tho',
  'Jon: my back hurts too much',
  'Mira: Let’s have lunch on Thursday.',
  'Mira: By the way, I quit my job at the bank because the commute wore me out.',
].join('\n\n');

async function answer(query: string): Promise<string> {
  const world = await createSearchWorld();
  const dataset = world.dataset('notes');
  await world.fill(dataset, [{ title: 'chat', text: `## 2026-05-04\n\n${CHAT}` }]);
  const retriever = createRetriever({ indexes: world.indexes, ledger: world.ledger });
  const retrieval = await retriever.retrieve({ scope: scopeOf(dataset), query, vector: null, limit: 5 });
  return extractiveAnswer(query, retrieval, retrieval.passages).text;
}

describe('questions about a conversation', () => {
  const answered: readonly (readonly [string, string])[] = [
    ['When did Jon buy a canoe?', '3 May 2026 (yesterday): "Great, I bought a canoe yesterday."'],
    ['Where did Jon get his canoe?', 'Whitby'],
    ['When did Petra win a regatta?', '1 May 2026 (last Friday)'],
    ['Who suggested a picnic?', 'Mira: "How about a picnic by the lake on Sunday?"'],
    ['What did Jon suggest to Mira?', '"You should join her club, Mira."'],
    ['Why did Jon sell his motorbike?', 'my back hurts too much'],
    ['When do they have lunch?', '7 May 2026 (thursday)'],
    ['Why did Mira quit her job?', 'the commute wore me out'],
  ];
  for (const [question, words] of answered)
    it(`answers "${question}" from who says I, and from replies`, async () => {
      expect(await answer(question)).to.include(words);
    });

  for (const question of ['When did Mira buy a canoe?', 'Why did Jon quit his job?', 'When did Jon win a regatta?'])
    it(`refuses "${question}", which only another speaker tells`, async () => {
      expect(await answer(question)).to.equal(NOTHING_FITS);
    });
});

describe('a turn that is told of', () => {
  const telling: Telling = { speakers: ['Mira', 'Jon'], speech: null, asked: null };

  it('names its speaker and whom it addresses', () => {
    expect(tellSentence("I've lost my keys, can you help me?", 'Jon', telling).text).to.equal(
      'Jon has lost Jon’s keys, can Mira help Jon?',
    );
    expect(tellSentence('tore my jacket on the fence', 'Jon', telling).text).to.equal(
      'Jon tore Jon’s jacket on the fence',
    );
  });

  it('leaves out the name that addresses the other one', () => {
    expect(tellSentence('Thanks, Mira! That helped.', 'Jon', telling).about).to.deep.equal([]);
    expect(tellSentence('Mira, the train is late.', 'Jon', telling).text).to.equal('the train is late.');
  });

  it('is in the first person about the speaker whom the question names', () => {
    const asked = { ...telling, asked: 'Mira' };
    expect(tellSentence('You’re lucky, your garden is huge.', 'Jon', asked).text).to.equal(
      'I’m lucky, my garden is huge.',
    );
    expect(tellSentence('I love my garden.', 'Mira', asked).text).to.equal('I love my garden.');
  });
});
