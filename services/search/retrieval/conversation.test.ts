import { expect } from 'chai';
import { createSearchWorld } from '../../../test/support/search-world.ts';
import { scopeOf } from '../../common/kernel/dataset.ts';
import type { Candidate } from './candidates.ts';
import { Conversation } from './conversation.ts';
import { createRetriever } from './pipeline.ts';
import { DEFAULT_SETTINGS, type RetrievalSettings } from './settings.ts';

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
  const places = async (query: string, changes: Partial<RetrievalSettings> = {}) => {
    const world = await createSearchWorld();
    const dataset = world.dataset('meeting');
    await world.fill(
      dataset,
      TURNS.map((text, at) => ({ title: `turn ${at}`, text })),
    );
    const scope = scopeOf(dataset);
    const [vector = null] = await world.embedder.embed([query], { scope, purpose: 'query' });
    const settings = { ...DEFAULT_SETTINGS, ...changes };
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
    const [first = 0, second = 0] = await places('What did they say about the remote control?');
    expect(Math.abs(first - second)).to.be.greaterThan(8);
  });

  it('gives words of asking little weight', () => {
    const conversation = Conversation.of(
      TURNS.map((text, at) => passage(text, at)),
      'What did the group think about the budget?',
    );
    expect(conversation?.weightsOf(['group', 'think', 'budget'])).to.deep.equal([0.25, 0.25, 1]);
  });

  it('prefers turns of the speaker whom the question names', async () => {
    const query = 'What did Ada think about the yellow logo?';
    const [first] = await places(query);
    expect(TURNS[first ?? 0]).to.match(/^Ada: /u);
    const [other] = await places(query, { speakerShare: 0 });
    expect(TURNS[other ?? 0]).not.to.match(/^Ada: /u);
  });

  it('knows a speaker by a part of the name, and none that only shares a word with the question', () => {
    const named = (question: string) => {
      const names: Readonly<Record<string, string>> = { Ada: 'Ada Price', Bo: 'Project Manager', Cy: 'Grad B' };
      const turns = TURNS.map((text) => text.replace(/^\w+/u, (name) => names[name] ?? name));
      const conversation = Conversation.of(
        turns.map((text, at) => passage(text, at)),
        question,
      );
      return turns.filter((_, at) => (conversation?.saidByNamed(`${at}`) ?? 0) > 0).map((text) => text.split(':')[0]);
    };
    expect(new Set(named('What did Ada say about the price?'))).to.deep.equal(new Set(['Ada Price']));
    expect(new Set(named('What did B think of the logo?'))).to.deep.equal(new Set(['Grad B']));
    expect(new Set(named('Why did the project manager mention lunch?'))).to.deep.equal(new Set(['Project Manager']));
    expect(named('What is the price of the project?')).to.deep.equal([]);
  });

  it('takes long turns for turns, and passages of several turns for none', () => {
    const long = TURNS.map((text, at) => passage(text, at, 400));
    expect(Conversation.of(long, '')).not.to.equal(null);
    const several = TURNS.map((text, at) => passage(`${text}\n\n${TURNS[at - 1] ?? 'Bo: Hello.'}`, at, 400));
    expect(Conversation.of(several, '')).to.equal(null);
  });

  it('takes labelled passages for no conversation', () => {
    const labelled = ['Address', 'Phone', 'Recipe', 'Summary', 'Warning', 'Note'].map(
      (label) => `${label}: as agreed.`,
    );
    expect(
      Conversation.of(
        labelled.map((text, at) => passage(text, at)),
        '',
      ),
    ).to.equal(null);
    expect(
      Conversation.of(
        TURNS.map((_, at) => passage(`Note: number ${at}.`, at)),
        '',
      ),
    ).to.equal(null);
    expect(
      Conversation.of(
        TURNS.map((text, at) => passage(text.replace(/^\w+: /u, ''), at)),
        '',
      ),
    ).to.equal(null);
  });
});

function passage(text: string, at: number, chunkSize = 20): Candidate {
  const payload = { text, documentName: `turn ${at}`, headings: [], chunkSize };
  return { row: { id: `${at}`, item: `${at}`, ordinal: 0 }, payload } as unknown as Candidate;
}
