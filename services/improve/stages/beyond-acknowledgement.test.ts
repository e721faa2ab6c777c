import { expect } from 'chai';
import { beyondAcknowledgement } from './beyond-acknowledgement.ts';

interface Said {
  /** As the user states it. */
  readonly statement: string;
  /** As it is said back. */
  readonly back: string;
  /** The same with one thing that the user did not say. */
  readonly other: string;
}

const SUBJECTS = ['Ann Stone', 'Bob Rivers', 'the Oslo office', 'Project Kestrel', 'our supplier Globex'];
const SAYINGS: readonly ((subject: string, number: number) => Said)[] = [
  (subject, number) => ({
    statement: `${subject} moved to room ${number}.`,
    back: `${subject} moved to room ${number}`,
    other: `${subject} moved to room ${number + 1}`,
  }),
  (subject, number) => ({
    statement: `My contact at ${subject} has the extension ${number}.`,
    back: `your contact at ${subject} has the extension ${number}`,
    other: `your contact at ${subject} has the extension ${number} in Bergen`,
  }),
  (subject, number) => ({
    statement: `I prefer mails about ${subject} before ${number % 12} o'clock.`,
    back: `you prefer mails about ${subject} before ${number % 12} o'clock`,
    other: `you prefer mails about ${subject} before ${number % 12} o'clock in May`,
  }),
  (subject, number) => ({
    statement: `The price for ${subject} is $${number}.`,
    back: `the price for ${subject} is $${number}`,
    other: `the price for ${subject} is not $${number}`,
  }),
];
const STATEMENTS = SUBJECTS.flatMap((subject, at) => SAYINGS.map((say, index) => say(subject, 17 * (at + 1) + index)));

/** Ways to say that something was understood, with or without saying it back. */
const FORMS: readonly ((back: string) => string)[] = [
  () => 'Noted.',
  () => 'Got it, thanks for letting me know!',
  () => 'Thank you for the update. I will keep that in mind.',
  () => "Understood! I've updated my notes accordingly.",
  () => 'You’re welcome. Let me know if you need anything else.',
  (back) => `Noted, I will remember that ${back}.`,
  (back) => `Okay, I’ll remember: ${back}. Is there anything else I can help with?`,
  (back) => `Thanks for telling me. I have made a note that ${back}, for future reference.`,
  (back) => `Sure, I won't forget that ${back}.`,
  (back) => `I've saved to memory that ${back}. Feel free to ask anything else!`,
  (back) => `Understood: ${back}.`,
];

describe('an answer without acknowledgements', () => {
  it('is null for acknowledgements in any words', () => {
    for (const { statement, back } of STATEMENTS) {
      for (const form of FORMS) expect(beyondAcknowledgement(statement, form(back)), form(back)).to.equal(null);
    }
  });

  it('keeps every fact that the user did not state, also a wrong repetition', () => {
    for (const { statement, back, other } of STATEMENTS) {
      for (const form of FORMS) {
        if (form(back) !== form(other)) {
          expect(beyondAcknowledgement(statement, form(other)), form(other)).to.include(other);
        }
        const fact = 'The lift in Harbour Street is out of order until 4 June.';
        expect(beyondAcknowledgement(statement, `${form(back)} ${fact}`), form(back)).to.include(fact);
        expect(beyondAcknowledgement(statement, `${fact} ${form(back)}`), form(back)).to.include(fact);
      }
    }
  });

  it('keeps an answer that only begins like an acknowledgement', () => {
    for (const answer of [
      'Great Britain left the union in 2020.',
      'Right of way is granted to the Hansen farm.',
      'Done deals are listed by Carla.',
      'I will remember to tell Carla about it.',
      'I noted three open points: cost, staff and time.',
      'Thanks to Carla the office opened early.',
      'Yes, and Carla agrees.',
      'You moved to room 12.',
      'Let me know when Carla arrives.',
    ]) {
      expect(beyondAcknowledgement('I moved to room 12.', answer), answer).to.equal(answer);
    }
  });

  it('keeps a sentence that the next one refers to', () => {
    const answer = 'Noted, you moved to Oslo. It has 700,000 inhabitants.';
    expect(beyondAcknowledgement('I moved to Oslo.', answer)).to.equal(answer);
  });

  it('keeps an answer that is too long to be checked', () => {
    const long = 'Noted. '.repeat(1000);
    expect(beyondAcknowledgement('I moved to Oslo.', long)).to.equal(long);
  });
});
