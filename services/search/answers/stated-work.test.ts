import { expect } from 'chai';
import type { ReadPassage } from './rank-sentences.ts';
import { isRelativeUnsaid, statedWork } from './stated-work.ts';

describe('what a text says of the work of somebody', () => {
  const passage = (text: string): ReadPassage =>
    ({ id: text, payload: { text, headings: [], documentName: 'note', chunkIndex: 0 } }) as unknown as ReadPassage;
  const said = (question: string, ...texts: readonly string[]) => {
    const found = statedWork(question, texts.map(passage));
    return found === null || found === 'unsaid' ? found : found.said;
  };
  const chat = 'Nora: I work as a radiographer at Jessa hospital.\nTeo: Nice! I am a baker, my sister is a vet.\n';

  it('is said of the user of an assistant by the user, and not by the assistant', () => {
    const text = 'User: I teach geography at Elm School.\nAssistant: Great! I work as an assistant at all hours.\n';
    expect(said('What do I do for work?', text)).equals('teach geography');
    expect(said('Where do I work?', text)).equals('Elm School');
  });

  it('is said of a speaker whom the question names, and of the relatives of that speaker', () => {
    expect(said("What is Nora's job?", chat)).equals('radiographer');
    expect(said('What does Teo do for a living?', chat)).equals('baker');
    expect(said("What does Teo's sister do?", chat)).equals('vet');
    expect(said('Which hospital does Nora work at?', chat)).equals('Jessa hospital');
  });

  it('is said by a reply to a question about work', () => {
    const talk =
      'Imran: Are you still working at the archive?\nRosa: Yes, I restore old maps now.\nImran: Do you like it?\nRosa: I do the maps with love.\n';
    expect(said('What does Rosa do for a living?', talk)).equals('restore old maps');
  });

  it('is unsaid of who asks when only others talk of theirs, and of a relative whom no text names', () => {
    expect(said('What is my profession?', chat)).equals('unsaid');
    expect(said('What is my profession?', chat, 'I am a plumber.')).equals('plumber');
    expect(said("What does Camille's husband do?", 'Camille runs a bookshop.', 'My partner Eli is a chef.')).equals(
      'unsaid',
    );
  });

  it('is told apart from relatives of whom no text tells', () => {
    const unsaid = (question: string, text: string) => isRelativeUnsaid(question, [passage(text)]);
    expect(unsaid('What is my wife called?', 'My daughters Saga and Moa came.')).equals(true);
    expect(unsaid('What is my daughter called?', 'My kids Saga and Moa came.')).equals(false);
    expect(unsaid('What is my wife called?', 'I am married to Ana.')).equals(false);
    expect(unsaid("What is Hilde's husband called?", 'Hilde has a car. My husband is ill.')).equals(false);
    expect(unsaid('Who is my boss?', 'My manager is Sofie.')).equals(false);
    expect(unsaid('What is my daughter called?', 'Our youngest, Mia, is three.')).equals(false);
    expect(unsaid('What is my grandmother called?', 'Oma Hilde bakes on Sundays.')).equals(false);
  });

  it('does not say which place it is by the kind alone', () => {
    expect(said('Which newspaper did I work for?', 'I was a proofreader at a newspaper.')).equals('unsaid');
    expect(said('Which company do I work for?', 'I work for Norvik.')).equals('Norvik');
    expect(said('Where does Hilde work?', 'Hilde is still at the tax office.')).equals('tax office');
  });

  it('is the plainest of several statements, and none when they contradict each other', () => {
    expect(said('What do I do for work?', 'I work for Norvik.', 'I am a paediatric nurse.', 'I am a nurse.')).equals(
      'paediatric nurse',
    );
    expect(said('What do I do for work?', 'I am a plumber.', 'I am a nurse.')).equals(null);
  });
});
