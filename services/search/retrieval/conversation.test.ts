import { expect } from 'chai';
import { createSearchWorld } from '../../../test/support/search-world.ts';
import { scopeOf } from '../../common/kernel/dataset.ts';
import type { Candidate } from './candidates.ts';
import { Conversation } from './conversation.ts';
import { createRetriever } from './pipeline.ts';
import { DEFAULT_SETTINGS } from './settings.ts';

const TURNS = [
  'Ada: Good morning, shall we start with the remote control?',
  'Bo: Yes, the buttons first.',
  'Ada: The last survey says that people lose it in the sofa.',
  'Cy: A whistle could find it again.',
  'Bo: Then it needs a speaker, which costs fifty cents.',
  'Ada: Fine, I write that down.',
  'Cy: Lunch is at noon.',
  'Bo: Before lunch, what about the case?',
  'Cy: Rubber, in yellow, like the logo.',
  'Ada: The remote control must not break when it falls.',
  'Bo: Rubber helps with that too.',
  'Cy: And the colour of the buttons?',
  'Ada: Black on yellow.',
  'Bo: The budget is next.',
  'Cy: Twelve euros and fifty cents for one remote control.',
  'Ada: That is a lot.',
  'Bo: The speaker is a part of it.',
  'Cy: We could leave out the display.',
  'Ada: Agreed, no display.',
  'Bo: Then we are done.',
];

describe('retrieval in conversations', () => {
  const places = async (query: string, windowShare = DEFAULT_SETTINGS.windowShare) => {
    const world = await createSearchWorld();
    const dataset = world.dataset('meeting');
    await world.fill(
      dataset,
      TURNS.map((text, at) => ({ title: `turn ${at}`, text })),
    );
    const scope = scopeOf(dataset);
    const [vector = null] = await world.embedder.embed([query], { scope, purpose: 'query' });
    const settings = { ...DEFAULT_SETTINGS, windowShare };
    const retriever = createRetriever({ indexes: world.indexes, ledger: world.ledger, settings });
    const { passages } = await retriever.retrieve({ scope, query, vector, limit: 3 });
    return passages.map(({ payload }) => TURNS.indexOf(payload.text));
  };

  it('ranks a turn by what the turns around it say, too', async () => {
    const [first] = await places('How do people find a remote control that they lose in the sofa?');
    expect(first).to.be.within(0, 4);
    expect(await places('What does the remote control cost?')).to.include(14);
  });

  it('shows several places of a conversation rather than neighbours', async () => {
    const found = await places('What did they say about the remote control?');
    for (const [at, place] of found.entries()) {
      for (const other of found.slice(at + 1)) expect(Math.abs(place - other)).to.be.greaterThan(8);
    }
  });

  it('gives words of asking little weight', () => {
    const conversation = Conversation.of(TURNS.map(passage));
    expect(conversation?.weightsOf(['group', 'think', 'budget'])).to.deep.equal([0.25, 0.25, 1]);
  });

  it('takes labelled passages for no conversation', () => {
    const labelled = ['Address', 'Phone', 'Recipe', 'Summary', 'Warning', 'Note'].map(
      (label) => `${label}: as agreed.`,
    );
    expect(Conversation.of(labelled.map(passage))).to.equal(null);
    expect(Conversation.of(TURNS.map((_, at) => passage(`Note: number ${at}.`, at)))).to.equal(null);
    expect(Conversation.of(TURNS.map((text, at) => passage(text.replace(/^\w+: /u, ''), at)))).to.equal(null);
  });
});

function passage(text: string, at: number): Candidate {
  const payload = { text, documentName: `turn ${at}`, headings: [], chunkSize: 20 };
  return { row: { id: `${at}`, item: `${at}`, ordinal: 0 }, payload } as unknown as Candidate;
}
