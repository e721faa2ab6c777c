import { expect } from 'chai';
import { spokenFeedback } from './spoken-feedback.ts';

const rated = (message: string) => spokenFeedback(message)?.rating;

describe('feedback by rules', () => {
  const good = [
    "Thanks, that's right.",
    'That is correct.',
    'Yes, that’s exactly right!',
    'Perfect, thank you',
    'thanks, correct',
    'Correct.',
    'That helped, thanks a lot.',
    'Great answer!',
    'Yes, that was what I wanted. Thank you!',
    'Your answer is correct.',
  ];
  const bad = [
    "No, that's wrong.",
    'no that’s wrong',
    'That is not correct',
    "That isn't right.",
    'Wrong.',
    'Nope, incorrect!',
    "No, that's not what I asked for.",
    'Sorry, but that is just wrong.',
    "You're wrong.",
    "That didn't help.",
    "This answer doesn't answer my question.",
  ];
  for (const message of good) it(`"${message}" praises`, () => expect(rated(message)).to.equal(5));
  for (const message of bad) it(`"${message}" faults`, () => expect(rated(message)).to.equal(1));

  it('is a whole message, or the beginning of one', () => {
    expect(spokenFeedback("No, that's wrong.")).to.deep.equal({ rating: 1, isAll: true });
    expect(spokenFeedback("No, that's wrong. Where does Ada live?")).to.deep.equal({ rating: 1, isAll: false });
    expect(spokenFeedback('Thanks! That was correct. And who is Bob?')).to.deep.equal({ rating: 5, isAll: false });
  });

  it('of thanks alone has no rating, and thanks before a question are no feedback', () => {
    expect(spokenFeedback('Thank you so much!')).to.deep.equal({ rating: null, isAll: true });
    expect(spokenFeedback('ok thanks')).to.deep.equal({ rating: null, isAll: true });
    expect(spokenFeedback('Thanks. Where does Ada live?')).to.equal(null);
  });

  const ordinary = [
    '',
    '   ',
    'Is that correct?',
    'That is wrong?',
    'What is wrong with the engine?',
    'Who is right, Ada or Bob?',
    'Was the answer wrong in 1999?',
    'Why was that wrong',
    'The forecast was wrong about Oslo.',
    'That is wrong by law in Norway.',
    'Right and wrong in the works of Kant',
    'Correct the spelling of Ada',
    'No country for old men',
    'No',
    'Yes',
    'Right',
    'Great Expectations',
    'Perfect pitch',
    'Thanksgiving dates',
    'Who was thanked in the acknowledgements?',
    'Wrong turn on the way to Bergen',
    'It is said that she was right. Who said it?',
    'Not what I asked for in the spec, list what is missing',
    'What is the correct answer?',
    'that is correct or wrong',
    "That's right. No, that's wrong.",
  ];
  for (const message of ordinary)
    it(`"${message}" is an ordinary message`, () => expect(spokenFeedback(message)).to.equal(null));
});
