import { expect } from 'chai';
import { extractByRules } from './extract-by-rules.ts';
import { createTagger } from './tagger.ts';

describe('a chat', () => {
  const tag = createTagger();
  const read = (...turns: readonly string[]) => {
    const input = { text: turns.join('\n'), documentName: 'text_1', headings: [], knownNames: [] };
    const { entities, relations } = extractByRules(input, tag);
    return {
      names: entities.map(({ name }) => name.toLowerCase()),
      relations: relations.map(({ source, relation, target }) => `${source} ${relation} ${target}`.toLowerCase()),
    };
  };

  it('has no speaker behind he and she, who are of whom the speakers talk', () => {
    const { relations } = read(
      'Nora: Did your grandmother live in Modena?',
      'Teo: Yes, she taught me to cook when I was eight.',
      'Nora: I met Pixel at the shelter, he was a racing dog.',
      'Teo: Nice, I love dogs.',
    );
    expect(relations).to.not.include('nora teach teo');
    expect(relations.filter((one) => /^(?:nora|teo) is_a/u.test(one))).to.deep.equal([]);
  });

  it('relates who replies without a verb to what the reply names', () => {
    const { relations } = read(
      'Nora: Where do you live now, Teo?',
      'Teo: In Porto, near the river.',
      'Teo: And what do you do?',
      'Nora: A radiographer at the Jessa Hospital.',
      'Teo: What is your sister called?',
      'Nora: Lotte, and she is nine.',
      'Nora: Where did you go in the end?',
      'Teo: Lisbon, with Ana. We got back on Thursday.',
      'Nora: Where do you work?',
      'Teo: I told you, in Braga nobody works.',
      'Nora: Who is your dentist?',
      'Teo: No idea. Berlin is far away.',
    );
    expect(relations).to.include.members([
      'teo live_in porto',
      'nora is_a radiographer',
      'nora sister lotte',
      'teo travel_to lisbon',
    ]);
    expect(relations.filter((one) => /work_at|dentist/u.test(one))).to.deep.equal([]);
  });

  it('has no entities of interjections, and no time in the name of a thing', () => {
    const { names } = read(
      'Nora: Phew, I adopted a greyhound yesterday.',
      'Teo: WHAT. Congrats! Btw I started pottery btw.',
      'Nora: Wow, I like loads of it.',
      'Teo: Jealous! I am learning Italian.',
    );
    const words = ['phew', 'what', 'congrats', 'btw', 'wow', 'jealous', 'load', 'loads', 'greyhound yesterday'];
    expect(names.filter((name) => words.includes(name) || name.endsWith(' btw'))).to.deep.equal([]);
    expect(names).to.include('italian');
  });
});
