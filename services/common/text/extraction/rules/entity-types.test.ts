import { expect } from 'chai';
import type { ExtractedEntity, KnownName } from '../../../ports/extractor.ts';
import { extractByRules } from './extract-by-rules.ts';
import { createTagger } from './tagger.ts';

const tag = createTagger();

function entitiesIn(text: string, knownNames: readonly KnownName[] = []): readonly ExtractedEntity[] {
  return extractByRules({ text, documentName: 'note', headings: [], knownNames }, tag).entities;
}

function typeIn(text: string, name: string, known: readonly KnownName[] = []): string | undefined {
  return entitiesIn(text, known).find((entity) => entity.name === name)?.type;
}

describe('entity types by rules', () => {
  it('recognise a person by actions and possessions', () => {
    for (const text of [
      '“Come here,” said Queequeg to me.',
      'We looked at Queequeg’s hand.',
      'I went in with Queequeg, who was tired.',
      'There sat Queequeg and I.',
      'Then Queequeg nodded.',
    ]) {
      expect(typeIn(text, 'Queequeg'), text).to.equal('Person');
    }
  });

  it('know a person by the given name alone', () => {
    for (const [text, name] of [
      ['Ada lives in Oslo.', 'Ada'],
      ['Tom drives a Volvo.', 'Tom'],
      ['Marta moved to Lisbon in 2020.', 'Marta'],
      ['The meeting with Priya is on Friday.', 'Priya'],
    ] as const)
      expect(typeIn(text, name), text).to.equal('Person');
    expect(typeIn('Ruby is a programming language.', 'Ruby')).to.equal('Concept');
  });

  it('know German bodies and shops by their words', () => {
    const text =
      'I was at the Max-Planck-Institut für Physik, the Sparkasse Köln, the Techniker Krankenkasse and the Bürgeramt Neukölln. The tent comes from Lumen Outdoor.';
    for (const name of [
      'Max-Planck-Institut für Physik',
      'Sparkasse Köln',
      'Techniker Krankenkasse',
      'Bürgeramt Neukölln',
      'Lumen Outdoor',
    ])
      expect(typeIn(text, name), name).to.equal('Organisation');
    expect(typeIn('Eva Hamt met Peter Diamant.', 'Eva Hamt')).to.equal('Person');
  });

  it('are of no field names and telephone numbers', () => {
    const names = (text: string) => entitiesIn(text).map(({ name }) => name);
    expect(names('Session ID: 12ab-88\n\nAnswer: You live in Porto.'))
      .to.include('Porto')
      .and.not.include('Session ID');
    expect(names('call Arno 0471 22 10 93')).to.include('Arno');
  });

  it('know a name by what it is to its owner', () => {
    const spoken = (text: string, name: string) =>
      extractByRules({ text, documentName: 'note', headings: [], knownNames: [], speaker: 'Me' }, tag).entities.find(
        (entity) => entity.name === name,
      )?.type;
    expect(spoken('My manager is called Farida Noor.', 'Farida Noor')).to.equal('Person');
    expect(spoken("I named my starter 'Clint Yeastwood'.", 'Clint Yeastwood')).to.equal('Concept');
  });

  it('take programs for products where the text installs, configures or runs them', () => {
    const text = [
      'People sign in with Keycloak, sessions are kept in Redis. We put Traefik in front, and Slack tells of failures.',
      'Set `SHOP_KEYCLOAK_URL`, `REDIS_HOST` and `LOG_LEVEL`.',
      '```sh\ndocker run -p 80:80 docker.io/library/traefik:v3 --api\n```',
      'Log in as Anna. ANNA_HOME is her folder. Neo4j holds the graph.',
    ].join('\n\n');
    for (const name of ['Keycloak', 'Redis', 'Traefik', 'Neo4j']) expect(typeIn(text, name), name).to.equal('Product');
    expect(typeIn(text, 'Anna')).to.equal('Person');
    expect(typeIn(text, 'Log')).not.to.equal('Product');
  });

  it('take titles in single marks for works, and no plural owners or other names', () => {
    const text =
      "All sang along to 'Karma Police'. We read ‘War and Peace’ at the workers' Party in the Jones' Garden.";
    expect(typeIn(text, 'Karma Police')).to.equal('Work');
    expect(typeIn(text, 'War and Peace')).to.equal('Work');
    expect(entitiesIn(text).filter(({ type }) => type === 'Work')).to.have.length(2);
    expect(entitiesIn("The game printed 'Too high' or 'Too low'.").map(({ type }) => type)).not.to.include('Work');
    expect(typeIn("'I Am Here Now,' said Tom Baker.", 'Tom Baker')).to.equal('Person');
  });

  it('keep a certain person whose class is an unknown noun', () => {
    const text = 'The song was co-written by producer Bob Crewe and Bob Gaudio, a bandmate of Valli.';
    expect(typeIn(text, 'Bob Gaudio')).to.equal('Person');
  });

  it('take no place from a thing that something is in', () => {
    expect(typeIn('He was known for his work in Precisionism.', 'Precisionism')).to.equal('Concept');
    expect(typeIn('They sailed in Queequeg’s boat.', 'Queequeg')).not.to.equal('Place');
    expect(typeIn('The river flows in the city of Culiacán.', 'Culiacán')).to.equal('Place');
    expect(typeIn('It flows through Sinaloa, Mexico.', 'Sinaloa')).to.equal('Place');
  });

  it('take no person from an article, a place, a number or an ordinary noun', () => {
    expect(typeIn('The Iron Fist struck.', 'Iron Fist')).to.equal('Concept');
    expect(typeIn('I saw the Houston Rockets.', 'Houston Rockets')).to.equal('Organisation');
    expect(typeIn('I typed on a Commodore 64 at home.', 'Commodore 64')).to.equal('Concept');
    expect(typeIn('A Greenland Whale is a whale.', 'Greenland Whale')).to.equal('Concept');
  });

  it('know surnames that are places too, and lone names by their context', () => {
    expect(typeIn('We met Benny Hill there.', 'Benny Hill')).to.equal('Person');
    expect(typeIn('We lived in Virginia then.', 'Virginia')).to.equal('Place');
    expect(typeIn('“No,” said Perth. Perth nodded.', 'Perth')).to.equal('Person');
  });

  it('know organisations by their initials, and nothing of other initials', () => {
    expect(typeIn('She works for the NBA now.', 'NBA')).to.equal('Organisation');
    expect(typeIn('I learned BASIC at school.', 'BASIC')).to.equal('Concept');
    expect(entitiesIn('At 3 AM the TV was on.').map(({ name }) => name)).not.to.include.members(['AM']);
  });

  it('know a body by its head word, by what is done with it, and well-known ones by their name', () => {
    for (const [text, name] of [
      ['In 2012 he signed for FK Vojvodina on a free transfer.', 'FK Vojvodina'],
      ['She worked at the Institute for Advanced Study in Princeton.', 'Institute for Advanced Study'],
      ['The film was made by Walt Disney Pictures.', 'Walt Disney Pictures'],
      ['The concert was recorded by Polish Radio II.', 'Polish Radio II'],
      ['He has watched Netflix every evening.', 'Netflix'],
      ['The letter came from the Church of the East.', 'Church of the East'],
    ] as const)
      expect(typeIn(text, name), text).to.equal('Organisation');
    expect(typeIn('They won the Norwegian Cup in Oslo.', 'Norwegian Cup')).not.to.match(/Place|Organisation|Person/u);
  });

  it('know a lone surname of two persons of the text', () => {
    const text = 'Ferenc Puskás met Lajos Puskás in Budapest. Stadiums are named after Puskás.';
    expect(typeIn(text, 'Puskás') ?? 'Person').to.equal('Person');
  });

  it('take no organisation, place or person from the title of an office', () => {
    for (const name of ['U.S. Representative', 'Village Chairman', 'Attorney General', 'Governor General'])
      expect(typeIn(`The ${name} spoke first at the meeting.`, name) ?? 'Concept', name).to.equal('Concept');
  });

  it('take no organisation or person from an office', () => {
    for (const office of ['Leader of the Labour Party', 'Speaker of the House of Commons', 'Mayor of London']) {
      expect(typeIn(`She became ${office} in 1998.`, office), office).to.equal('Concept');
    }
  });

  it('believe earlier text until this one clearly disagrees', () => {
    const known = [{ name: 'Queequeg', type: 'Person' }];
    expect(typeIn('It was found near Queequeg.', 'Queequeg', known)).to.equal('Person');
  });
});

describe('names by rules', () => {
  const namesIn = (text: string): string[] => entitiesIn(text).map(({ name }) => name);

  it('keep what a body is for, and ordinary nouns on both sides of an `and`', () => {
    expect(
      namesIn('She left the Council on Foreign Relations for the Institute for Advanced Study.'),
    ).to.include.members(['Council on Foreign Relations', 'Institute for Advanced Study']);
    expect(namesIn('He joined the Song and Dance Ensemble.')).to.include('Song and Dance Ensemble');
    expect(namesIn('He met Tom Hill and Acme Lumber Company.')).to.include('Tom Hill');
  });

  it('lose an office in front of a person, and the sentence that follows', () => {
    expect(namesIn('In 1971, Georgia Governor Jimmy Carter and Vice Admiral James Greer spoke.')).to.include.members([
      'Jimmy Carter',
      'James Greer',
    ]);
    expect(namesIn('In 1930 King Carol II ruled Romania.')).to.include('Carol II');
    expect(namesIn('He saw Queen Victoria in London.')).to.include('Queen Victoria');
    expect(namesIn('He served in World War I. Angell returned in 1919.')).not.to.include('World War I. Angell');
  });

  it('have blanks around their hyphen only in a text that has them everywhere', () => {
    expect(namesIn('A five - year study of the Rhineland - Palatinate was published.')).to.include(
      'Rhineland - Palatinate',
    );
    expect(namesIn('The night train London - Vienna was full.')).to.include.members(['London', 'Vienna']);
  });

  it('keep a nickname inside its name', () => {
    expect(namesIn('Robert A. "Bob" Starr (born 1971) is a wrestler.'))
      .to.include('Robert A. Starr')
      .and.not.include('Bob');
  });

  it('omit words that only open the sentence', () => {
    expect(namesIn('Visiting Tokyo was good.')).to.include('Tokyo').and.not.include('Visiting Tokyo');
    expect(namesIn('Kerrie Byles sang. We heard Byles.')).to.include('Kerrie Byles');
    expect(namesIn('Canst Ahab see? We saw Ahab.')).to.include('Ahab');
  });

  it('are no function words in capitals and no tables', () => {
    const stone = namesIn('THIS TABLET Is erected by friends OF THE SHIP ELIZA Who were lost.');
    expect(stone.filter((name) => /Is|OF|Who/u.test(name))).to.deep.equal([]);
    const cast = 'Starring Finn Jones Jessica Henwick Tom Pelphrey Jessica Stroup Sacha Dhawan';
    expect(namesIn(`We read ${cast} today.`)).not.to.include(cast);
  });

  it('of persons are not joined across their gender', () => {
    const found = entitiesIn('Harry Macey had a kettle. Mrs. Macey came in.');
    expect(found.map(({ name }) => name)).to.include.members(['Harry Macey', 'Macey']);
  });
});

describe('keywords by rules', () => {
  const keywordsIn = (text: string): string[] =>
    entitiesIn(text)
      .filter(({ isKeyword }) => isKeyword)
      .map(({ name }) => name);

  it('are adjectives of nations, unless they stand alone', () => {
    expect(keywordsIn('She is an American actress.')).to.include('American');
    expect(keywordsIn('She speaks Italian.')).not.to.include('Italian');
  });

  it('are vague phrases; terms and plain things are the subject of a text without names', () => {
    const text = 'Our production database went down after a quick recovery. We had built a treehouse.';
    expect(keywordsIn(text)).to.include('quick recovery');
    expect(keywordsIn(text)).not.to.include.members(['production database']);
    expect(keywordsIn(text)).not.to.include.members(['treehouse']);
  });
});
