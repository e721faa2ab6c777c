import { expect } from 'chai';
import { preferenceAsked, preferenceReader, statedPreferences } from './preferences.ts';
import type { ReadPassage } from './rank-sentences.ts';

describe('what somebody likes', () => {
  const cases: readonly (readonly [question: string, sentence: string, objects: readonly string[]])[] = [
    ['What do I like to eat?', 'User loves mango and dark chocolate.', ['mango and dark chocolate']],
    ['What do I like to eat?', "User's favourite cuisine is Ethiopian.", ['Ethiopian']],
    ['What do I like to eat?', 'I love hiking and my wife.', []],
    ['Which constructor do I like?', 'I love hiking and my wife.', []],
    ['Which fruit do I like?', 'I love mangoes, jazz and old films.', ['mangoes']],
    ['What do I like to eat?', 'I love pho, dumplings and jazz.', ['pho, dumplings']],
    ['What food does my sister like?', 'My sister Mia really likes ramen, but not on Mondays.', ['ramen']],
    ['Which foods can’t I stand?', 'I eat everything except natto.', ['natto']],
    ["What don't I eat?", "I don't eat meat or fish.", ['meat or fish']],
    ["What don't I eat?", "Noor doesn't eat meat or fish.", []],
    ['What does Noor not eat?', "Noor doesn't eat meat or fish.", ['meat or fish']],
    ['What do I dislike?', 'User dislikes coriander and cooks mostly Thai food.', ['coriander']],
    ['What do I like?', 'User dislikes coriander and loves basil.', ['basil']],
    ['What kind of music do I like?', 'I’m into jazz and blues.', ['jazz and blues']],
    ['What are my hobbies?', 'I enjoy sailing and knitting because they calm me.', ['sailing and knitting']],
    [
      'What do I do for fun?',
      'User enjoys pottery and running along the canal.',
      ['pottery and running along the canal'],
    ],
    ['What do I like to drink?', 'I love green tea.', ['green tea']],
    ['What do I like to drink?', 'I love pasta.', []],
  ];
  for (const [question, sentence, objects] of cases) {
    it(`is ${objects[0] ?? 'not said'} for "${question}" in "${sentence}"`, () => {
      const asked = preferenceAsked(question);
      expect(asked === null ? null : preferenceReader(asked)(sentence)).deep.equals(objects);
    });
  }

  it('is not asked for by what somebody eats, thinks or likes about something', () => {
    for (const question of ['What does the cat eat?', 'What do I like about my job?', 'What would I like to eat?'])
      expect(preferenceAsked(question)).equals(null);
  });

  it('is all that the notes say, and of a chat what the user says', () => {
    const passages = [
      'User loves mango.',
      "User's favourite food is ramen.",
      'User: I love figs.\nAssistant: I love cheese.\n',
    ];
    const read = passages.map(
      (text) =>
        ({ id: text, payload: { text, headings: [], documentName: '', chunkIndex: 0 } }) as unknown as ReadPassage,
    );
    const found = statedPreferences('What do I like to eat?', read);
    expect(found?.map(({ object }) => object)).deep.equals(['mango', 'ramen', 'figs']);
  });
});
