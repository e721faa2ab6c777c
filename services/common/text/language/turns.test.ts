import { expect } from 'chai';
import { isConversation, turnsOf } from './turns.ts';

describe('turns of a conversation', () => {
  it('begin with a name, after a time if there is one', () => {
    const text =
      '[10:42] Tom Okoye (host): Welcome.\n10:43 - Anna: Hello!\n**User:** Hi.\nGrad B : Okay.\n- Speaker 1: Yes.';
    expect(turnsOf(text).map(({ time, speaker, said }) => [time, speaker, said])).to.deep.equal([
      ['10:42', 'Tom Okoye', 'Welcome.'],
      ['10:43', 'Anna', 'Hello!'],
      ['', 'User', 'Hi.'],
      ['', 'Grad B', 'Okay.'],
      ['', 'Speaker 1', 'Yes.'],
    ]);
  });

  it('begin behind a date, too, as exports of messengers write it', () => {
    const text = '12/05/2026, 08:10 - Nadia: Hello\n[12 May 2026, 08:14] Elsa: Yes';
    expect(turnsOf(text).map(({ time, speaker, said }) => [time, speaker, said])).to.deep.equal([
      ['12/05/2026, 08:10', 'Nadia', 'Hello'],
      ['12 May 2026, 08:14', 'Elsa', 'Yes'],
    ]);
  });

  it('have a time behind the name, too', () => {
    const said = turnsOf('Leo (18:05): the heating is off again\nAna (host): ok');
    expect(said.map(({ time, speaker }) => [time, speaker])).to.deep.equal([
      ['18:05', 'Leo'],
      ['', 'Ana'],
    ]);
  });

  it('are no keys of minutes and notes', () => {
    expect(turnsOf('ACTION: Pete to order the pump.\nTodo: call Arno\nNext meeting: 4 May')).to.deep.equal([]);
  });

  it('are speech, which keys with values are not', () => {
    expect(isConversation(turnsOf('Anna: It is broken.\nTom: I will look.'))).to.equal(true);
    expect(isConversation(turnsOf('Name: Anna\nPhone: 123\nCity: Oslo'))).to.equal(false);
    expect(isConversation(turnsOf('Anna: It is broken.'))).to.equal(false);
    const terms = '- Albedo: The share of light that comes back.\n- Sky view: The share of sky that one sees.';
    expect(isConversation(turnsOf(terms))).to.equal(false);
  });

  it('are none where each stands alone in its section, as the keys of minutes do', () => {
    const minutes =
      'Chair: Ada Moss.\n## 1. Bridge\nTwo beams.\nDecided: no repair.\n## 2. Trees\nNext meeting: 4 May.';
    expect(isConversation(turnsOf(minutes))).to.equal(false);
    expect(isConversation(turnsOf('# Chat\nAnna: It is broken.\nTom: I will look.\n# Later\nAnna: Done.'))).to.equal(
      true,
    );
    expect(isConversation(turnsOf('**User:** Hi.\n# Reply\n**Assistant:** Hello.'))).to.equal(true);
  });
});
