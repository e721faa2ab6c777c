import { expect } from 'chai';
import { extractByRules } from './extract-by-rules.ts';
import { createTagger } from './tagger.ts';

describe('notes about the user', () => {
  const tag = createTagger();
  const relationsIn = (text: string) => {
    const input = { text, documentName: 'text_1', headings: [], knownNames: [], speaker: 'me' };
    return extractByRules(input, tag).relations.map(
      ({ source, relation, target }) => `${source} ${relation} ${target}`,
    );
  };
  const entitiesIn = (text: string) => {
    const input = { text, documentName: 'text_1', headings: [], knownNames: [], speaker: 'me' };
    return extractByRules(input, tag).entities.map(({ name }) => name.toLowerCase());
  };

  it('are read as statements of the person who is called the user', () => {
    expect(relationsIn('User lives in Porto')).to.include('me live_in Porto');
    expect(relationsIn('The user drives a Renault Zoe.')).to.include('me drive Renault Zoe');
    expect(relationsIn("User's sister Inês lives in Braga")).to.include('me sister Inês');
    expect(relationsIn('User is allergic to peanuts').map((one) => one.toLowerCase())).to.include(
      'me allergic_to peanut',
    );
    expect(relationsIn("The user's name is Daniel Roth.")).to.include('me name Daniel Roth');
    expect(relationsIn('The user has a dog named Pablo.')).to.include('me dog Pablo');
  });

  it('say who she is in the sentences behind, and whose sister', () => {
    const text = 'The user prefers short answers. She lives in Porto. Her sister Inês lives in Braga. She is a nurse.';
    expect(relationsIn(text)).to.include.members(['me live_in Porto', 'me sister Inês', 'Inês live_in Braga']);
    expect(relationsIn(text).map((one) => one.toLowerCase())).to.not.include('me is_a nurse');
  });

  it('are about the user in every item of a list, and by the name that they give', () => {
    const text =
      "- The user's name is Callum Reid; he lives in Dundee with his partner Isla.\n- He works as an engineer at Arup.\n- Callum has a greyhound named Biscuit.\n- The user's brother Fraser lives in Perth.\n- He is learning Gaelic with Duolingo.\n";
    const found = relationsIn(text);
    expect(found).to.include.members([
      'me name Callum Reid',
      'me live_in Dundee',
      'me partner Isla',
      'me work_at Arup',
      'me greyhound Biscuit',
      'Fraser live_in Perth',
    ]);
    expect(found.filter((one) => /^(?:Callum|Fraser learn)/u.test(one))).to.deep.equal([]);
  });

  it('take what the user is called for the name', () => {
    const found = relationsIn('The user is called Mireille Duval. She is a veterinarian. Mireille grew up in Dakar.');
    expect(found).to.include.members(['me name Mireille Duval', 'me grow_up_in Dakar', 'me is_a veterinarian']);
    expect(found.filter((one) => one.startsWith('Mireille'))).to.deep.equal([]);
  });

  it('name no user', () => {
    expect(entitiesIn('User moved from Lisbon to Porto in March 2025')).to.not.include('user');
  });

  it('are not found in the documents of a program', () => {
    const text = 'The user opens the settings. The user has to confirm the dialog, and is redirected to London.';
    for (const one of [text, 'The user interface has three pages.', 'User stories live in Jira.'])
      expect(
        relationsIn(one).filter((relation) => relation.startsWith('me ')),
        one,
      ).to.deep.equal([]);
  });
});
