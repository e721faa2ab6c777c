import { expect } from 'chai';
import { askedLikeNotes } from './user-notes.ts';

const passagesOf = (...texts: readonly string[]) =>
  texts.map((text, at) => ({
    id: `p${at}`,
    payload: { text, documentName: '', headings: [] },
  })) as unknown as Parameters<typeof askedLikeNotes>[1];

describe('questions to notes about the user', () => {
  it('are asked about the user when whoever asks is called so', () => {
    const notes = passagesOf('User lives in Porto', "The user's sister lives in Braga");
    expect(askedLikeNotes('Where does my sister live?', notes)).to.equal('Where does the user’s sister live?');
    expect(askedLikeNotes('Where do I live?', notes)).to.equal('Where does the user live?');
    expect(askedLikeNotes('What am I allergic to?', notes)).to.equal('What is the user allergic to?');
    expect(askedLikeNotes('Where does Anna live?', notes)).to.equal('Where does Anna live?');
  });

  it('are asked in the first person when the notes are written in it', () => {
    const notes = passagesOf('I live in Porto with my sister.');
    expect(askedLikeNotes("Where does the user's sister live?", notes)).to.equal('Where does my sister live?');
    expect(askedLikeNotes('Where do I live?', notes)).to.equal('Where do I live?');
  });

  it('name the user whom other notes call by name', () => {
    const notes = passagesOf('The user, Priya Nair, is a nurse in Porto.', 'Priya’s husband Tomás translates.');
    expect(askedLikeNotes('What is my husband’s job?', notes)).to.equal('What is Priya’s husband’s job?');
    expect(askedLikeNotes('Where do I work?', notes)).to.equal('Where does Priya work?');
    expect(askedLikeNotes('How old is our daughter?', notes)).to.equal('How old is their daughter?');
    expect(askedLikeNotes('Where does my sister live?', passagesOf('The user, Priya Nair, has a sister.'))).to.equal(
      'Where does the user’s sister live?',
    );
  });

  it('stay as they are when the note that answers them does not name the user', () => {
    const notes = passagesOf('The smoker is in the shed.', 'The user, Hannes Reuter, keeps bees.', 'Hannes is 40.');
    expect(askedLikeNotes('Where do I find the smoker?', notes)).not.to.include('Hannes');
  });

  it('stay as they are where users are those of a program', () => {
    const notes = passagesOf('The user interface has three pages.', 'Users sign in by mail.');
    expect(askedLikeNotes('How do I sign in?', notes)).to.equal('How do I sign in?');
  });
});
