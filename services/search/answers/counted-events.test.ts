import { expect } from 'chai';
import { toldEvents } from './counted-events.ts';
import type { ReadPassage } from './rank-sentences.ts';

describe('how many times something happened', () => {
  const passage = (text: string): ReadPassage =>
    ({ id: text, payload: { text, headings: [], documentName: '', chunkIndex: 0 } }) as unknown as ReadPassage;
  const count = (question: string, ...texts: readonly string[]) =>
    toldEvents(question, texts.map(passage))?.count ?? null;
  const chat = [
    '## 28 July 2026\n\nPetra: I fell off my bike on Saturday, by the way.\n\nLuke: Ouch! I never fell off mine.\n',
    '## 20 September 2026\n\nPetra: I did it!!\n\nLuke: Congratulations!\n\nPetra: Fell off again in training, but nothing broken.\n',
  ].join('\n');

  it('is counted over the turns of a speaker', () => {
    expect(count('How many times did Petra fall off her bike?', chat)).equals(2);
    expect(count('How many times did Luke fall off his bike?', chat)).equals(null);
  });

  it('is counted where it happened to somebody', () => {
    const turns =
      'Imran: I got bitten by a dog.\nRosa: Oh no!\nImran: A dog bit me again. Same dog!\nRosa: A dog bit Tom.\n';
    expect(count('How often was Imran bitten by a dog?', turns)).equals(2);
    expect(count('How often was Rosa bitten by a dog?', turns)).equals(null);
  });

  it('is counted where a sentence refers to the thing in the one before it', () => {
    const turns =
      '## May\n\nJo: I crashed the drone already.\n\nMia: Haha.\n\n## June\n\nJo: My drone is gone too. Crashed it into the sea.\n\nMia: Oh.\n';
    expect(count('How many times did Jo crash his drone?', turns)).equals(2);
  });

  it('is counted over notes of a user, and over own notes', () => {
    const notes = [
      'User visited Rome in 2019.',
      'User visited Rome with her sister in 2024.',
      'User wants to visit Rome in 2027.',
    ];
    expect(count('How many times have I visited Rome?', ...notes)).equals(2);
    expect(count('How often did I visit Rome?', 'I visited Rome in May.', 'I visited Rome in July.')).equals(2);
    expect(count('How many times have I visited Paris?', ...notes)).equals(null);
    expect(count('How often have I been to Japan?', 'User visited Japan in 2018 and again in 2023.')).equals(2);
  });

  it('counts neither wishes nor what others did', () => {
    const rome = ['I visited Rome in 2018.', 'I wanted to visit Rome again in 2023.'];
    expect(count('How many times did I visit Rome?', ...rome)).equals(null);
    const trips = ['I went to Rome in 2018.', 'In 2020 I flew to Rome with Ana.', 'Ben went to Rome in 2021.'];
    expect(count('How many times have I been to Rome?', ...trips)).equals(2);
    const falls = ['I fell off my bike in May.', 'I fell off my bike in June.', 'My son fell off his bike in July.'];
    expect(count('How often did I fall off my bike?', ...falls)).equals(2);
  });

  it('is left to the sentence that says it', () => {
    expect(count('How often did I visit Rome?', 'I visited Rome twice.', 'I visited Rome in July.')).equals(null);
    expect(count('How often do I visit Rome?', 'I visited Rome in May.', 'I visited Rome in July.')).equals(null);
  });
});
