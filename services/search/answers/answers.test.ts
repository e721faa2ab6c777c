import { expect } from 'chai';
import { createSearchWorld, type WorldPassage } from '../../../test/support/search-world.ts';
import { scopeOf } from '../../common/kernel/dataset.ts';
import { NOTHING_FITS } from '../../common/text/repetition/own-answers.ts';
import type { RankedPassage } from '../model.ts';
import { createRetriever } from '../retrieval/pipeline.ts';
import { packPassages, titleOf } from './contexts.ts';
import { extractiveAnswer } from './extractive.ts';
import { areOwnNotes, type ReadPassage } from './rank-sentences.ts';
import { evidenceBlock } from './references.ts';

const PASSAGES: readonly WorldPassage[] = [
  {
    title: 'ada',
    text: 'Ada Lovelace was born in London. She lived in Marylebone from 1835. Her friends praised her.',
  },
  { title: 'nile', text: 'The Nile flows through Egypt. Cairo lies on it. Its floods fed the fields for ages.' },
  {
    title: 'engine',
    text: 'Charles Babbage designed the analytical engine. Ada Lovelace wrote notes about the engine.',
  },
];

async function retrieve(query: string, passages = PASSAGES) {
  const world = await createSearchWorld();
  const dataset = world.dataset('notes');
  await world.fill(dataset, passages);
  const retriever = createRetriever({ indexes: world.indexes, ledger: world.ledger });
  return retriever.retrieve({ scope: scopeOf(dataset), query, vector: null, limit: 5 });
}

async function answer(query: string, passages = PASSAGES): Promise<string> {
  const retrieval = await retrieve(query, passages);
  return extractiveAnswer(query, retrieval, retrieval.passages).text;
}

describe('notes in the first person', () => {
  const passages = (...texts: readonly string[]) => texts.map((text) => ({ payload: { text } }) as ReadPassage);

  it('are known by three passages, or by half of a few, and not by one quoted song', () => {
    const pages = ['A song of 1984.', 'It was a hit.', 'He sang it.', 'It rose.', 'The end.'];
    expect(areOwnNotes(passages('We sail.', 'The mast broke.'))).to.equal(true);
    expect(areOwnNotes(passages('The mast broke.', 'I sail.', 'My boat.', 'Our crew.', ...pages))).to.equal(true);
    expect(areOwnNotes(passages('“I just called to say”', ...pages))).to.equal(false);
    expect(areOwnNotes(passages('It sails.', 'The mast broke.'))).to.equal(false);
    expect(areOwnNotes([])).to.equal(false);
  });
});

describe('notes of several projects', () => {
  const projects: readonly WorldPassage[] = [
    {
      title: 'one',
      text: '# Atlas\n\nA booking site.\n\n## Stack\nDatabase: Postgres 15\n\n## Hosting\nProvider: Hetzner',
    },
    {
      title: 'two',
      text: '# Heron\n\nAn inventory app.\n\n## Stack\n- Backend: Django 5\n- Queue: RabbitMQ\n\n## Rates\nHourly rate: 95 EUR',
    },
    {
      title: 'four',
      text: '# Marlin\n\n## Status\nOn hold since August because the customer ran out of budget.\n\n## Open issues\n- Dark mode is missing',
    },
    {
      title: 'five',
      text: '# Accounting\n\nThe VAT return has to be in by the tenth of the following month. The adviser is Ada Moss.',
    },
  ];

  it('are told apart by the heading above those of their parts', async () => {
    expect(await answer('What is the hourly rate on Heron?', projects)).to.include('95 EUR');
    expect(await answer('What is the hourly rate on Atlas?', projects)).not.to.include('95 EUR');
    expect(await answer('Which message queue is used in Heron?', projects)).to.include('RabbitMQ');
    expect(await answer('Why is Marlin paused?', projects)).to.include('ran out of budget');
  });

  it('give days of each month as dates', async () => {
    expect(await answer('When must the VAT return be submitted?', projects)).to.include('tenth of the following month');
  });
});

describe('notes about whoever asks', () => {
  it('say the name and what was before', async () => {
    const notes: readonly WorldPassage[] = [
      {
        title: 'me',
        text: 'I am Lennart Voss, freelance developer since 2017. Before that I spent five years at a firm called Nordfracht.',
      },
      { title: 'other', text: 'The site is called Tarn. My sister drew the logo.' },
    ];
    expect(await answer('What is my name?', notes)).to.match(/^Lennart Voss: /u);
    expect(await answer('Where did I work before I went freelance?', notes)).to.match(/^[^\n]*Nordfracht/u);
    expect(await answer('What is my name?', [{ title: 'other', text: 'My sister drew the logo.' }])).to.equal(
      NOTHING_FITS,
    );
  });
});

describe('extractive answers', () => {
  it('say the answer, then quote its sentence verbatim with its document', async () => {
    expect((await answer('Where was Ada Lovelace born?')).split('\n')[0]).to.equal(
      'London: "Ada Lovelace was born in London." (ada)',
    );
    expect(await answer('Who designed the analytical engine?')).to.include(
      '"Charles Babbage designed the analytical engine." (engine)',
    );
  });

  it('name who did it by the word for what was done, beside others who did something else', async () => {
    const passages = [
      {
        title: 'Red Sails',
        text: 'Red Sails is a 1985 film and a sequel to Blue Sails, directed by Tom Hall and produced by one of its stars, Ada Reid. The boat explores the coast with Zoe Marsh.',
      },
      {
        title: 'Hull Airport',
        text: 'Hull Airport serves Hull, a city. The airport is owned and operated by the Hull Council.',
      },
      {
        title: 'Low Tide',
        text: 'Low Tide is a 1937 novel by the Scottish writer Ida Brown. The novel explores how Nan Orr wrote songs.',
      },
    ];
    expect(await answer('who produced red sails', passages)).to.match(/^Ada Reid: /u);
    expect(await answer('who owns hull airport', passages)).to.match(/^Hull Council: "The airport is owned/u);
    expect(await answer('who wrote low tide', passages)).to.match(/^Ida Brown: /u);
  });

  it('come from notes in the language of the question that speak of its subject by a pronoun', async () => {
    const notes = [
      {
        title: 'Nelly',
        text: '# Nelly\n\nUnser Hund heißt Nelly und ist ein Dackel. Wir haben sie im März 2020 aus dem Tierheim geholt. Sie bellt gern.',
      },
      {
        title: 'Peru',
        text: '# Viaje a Perú\n\nEn octubre de 2022 viajé a Perú con mi amiga Inés. Subimos con lluvia.',
      },
      { title: 'Pacht', text: '# Pachtvertrag\n\nDer Verpächter überlässt dem Pächter den Kleingarten Nr. 27.' },
    ];
    expect(await answer('Wann haben wir den Hund aus dem Tierheim geholt?', notes)).to.include('März 2020');
    expect(await answer('¿Con quién viajé a Perú?', notes)).to.include('Inés');
    expect(await answer('Wie groß ist der Kleingarten?', notes)).to.equal(NOTHING_FITS);
  });

  it('quote first what is said of the subject of a title, which its sentence does not repeat', async () => {
    const passages = [
      {
        title: 'Marsh College',
        text: '# Marsh College\n\nMarsh College was founded in 1915 as a school and held courses at Hill Street. In 1917 it adopted the Heron as its mascot. It moved in 1933.',
      },
    ];
    const band = {
      title: 'The Herons',
      text: '# The Herons\n\nThe Herons are a band from Hull. Ada Reid formed it in 2009 and soon after relocated to Omaha, Nebraska. The sound never veers into noise.',
    };
    expect(await answer('where did the herons move to', [band])).not.to.match(/^[^"]*"The sound/u);
    expect(await answer('what is the mascot of marsh college', passages)).to.match(
      /^(?:.{0,20}: )?"In 1917 it adopted/u,
    );
  });

  it('name a person without a name, a number with its unit, and a date', async () => {
    const life = {
      title: 'life',
      text: 'My uncle taught me chess when I was seven. Our dog Rex lived with us for thirteen years. In 2018 I moved to Berlin.',
    };
    expect(await answer('Who taught me chess?', [life])).to.match(/^My uncle: "My uncle taught me chess/);
    expect(await answer('How many years did Rex live with us?', [life])).to.match(/^thirteen years: "Our dog Rex/);
    expect(await answer('When did I move to Berlin?', [life])).to.match(/^2018: "In 2018 I moved/);
  });

  it('name what stands behind the verb of the question, and where something moved to', async () => {
    const ada = { title: 'ada', text: 'Ada Lovelace lives in Bergen and works at Equinor.' };
    expect(await answer('Where does Ada work?', [ada])).to.match(/^Equinor: /);
    expect(await answer('Where does Ada live?', [ada])).to.match(/^Bergen: /);
    const office = { title: 'office', text: 'Our office moved from Bergen to Oslo in March 2024.' };
    expect(await answer('Where is our office?', [office])).to.match(/^Oslo: /);
    expect(await answer('Where did our office move from?', [office])).to.match(/^Bergen: /);
  });

  it('name the university when a university is asked for, although another sentence has more words of the question', async () => {
    const studies = [
      { title: 'concert', text: 'The first live concert I attended was Radiohead at a festival.' },
      { title: 'study', text: 'I remember my first day at the University of Belgrade.' },
    ];
    expect(await answer('Which university did I attend?', studies)).to.match(/^University of Belgrade: "I remember/);
  });

  it('refuse to say who did what a text only says was done', async () => {
    const bicycle = { title: 'bicycle', text: 'My bicycle was stolen in front of the institute in 2022.' };
    const said = { title: 'bicycle', text: 'My bicycle was stolen by Wim Claes in 2022.' };
    expect(await answer('Who stole my bicycle?', [bicycle])).to.equal(NOTHING_FITS);
    expect(await answer('Who stole my bicycle?', [said])).to.match(/^Wim Claes: /);
  });

  it('refuse what documentation does not say', async () => {
    const pages = [
      { title: 'README', text: 'Tern copies folders to another machine over SSH. It is written in Rust for Linux.' },
      { title: 'security', text: 'An audit by Halvard Security in March 2023 found two issues. Blocks are encrypted.' },
      { title: 'faq', text: 'Two machines may share one repository. Exclude patterns may be negated with a mark.' },
    ];
    for (const asked of [
      'What is the phone number of support?',
      'What colour is the logo of Tern?',
      'How much does a licence cost?',
      'How many users does Tern have?',
    ])
      expect(await answer(asked, pages), asked).to.equal(NOTHING_FITS);
    expect(await answer('When was the audit?', pages)).to.match(/^March 2023: /);
    expect(await answer('Which language is Tern written in?', pages)).to.include('written in Rust');
  });

  it('never take the opposite of a verb for it, and find who is meant where a sentence tells it from the other side', async () => {
    const house = {
      title: 'house',
      text: 'We bought the house in May 2014. In 2009 I arrived in Kassel. Marta borrowed a ladder from Jonas Brandt in June.',
    };
    expect(await answer('When did we buy the house?', [house])).to.match(/^May 2014: /);
    expect(await answer('When did we sell the house?', [house])).to.equal(NOTHING_FITS);
    expect(await answer('When did I leave Kassel?', [house])).to.not.include('2009');
    const done = { title: 'permit', text: 'The parking permit was renewed on 13 April 2026.' };
    const todo = { title: 'list', text: 'todo: renew the parking permit before 20 April' };
    expect(await answer('When did I renew the parking permit?', [todo, done])).to.match(/^13 April 2026/);
    expect(await answer('Who borrowed a ladder?', [house])).to.match(/^Marta: /);
    expect(await answer('Who lent Marta a ladder?', [house])).to.match(/^Jonas Brandt: /);
  });

  it('take a number behind the kind that is asked for as its name, and no date for a phone number', async () => {
    const ports = {
      title: 'ports',
      text: 'The gateway listens on port 7070. Node.js 20 or newer is needed by the ledger.',
    };
    expect(await answer('What port does the gateway listen on?', [ports])).to.include('port 7070');
    expect(await answer('Which version of Node.js does the ledger need?', [ports])).to.include('Node.js 20');
    const ticket = { title: 'ticket', text: 'customer: Ada Moss, opened: 2026-02-13, state: open' };
    expect(await answer('What is the phone number of Ada Moss?', [ticket])).to.equal(NOTHING_FITS);
    const regions = {
      title: 'regions',
      text: 'The region eu-1 is owned by Ada Moss. The region us-1 is owned by Bo Lind.',
    };
    expect(await answer('Who owns the region eu-1?', [regions])).to.match(/^Ada Moss: /);
    expect(await answer('Who owns the region sa-1?', [regions])).to.equal(NOTHING_FITS);
  });

  it('name who has the role in brackets, and amounts and dates of other languages', async () => {
    const team = {
      title: 'team',
      text: 'Present: Ada Moss, Bo Lind (treasurer), Cy Ray. Maintained by Di Wu (core) and Eve Orr (SDKs).',
    };
    expect(await answer('Who is the treasurer?', [team])).to.match(/^Bo Lind: /);
    expect(await answer('Who maintains the SDKs?', [team])).to.match(/^Eve Orr: /);
    const feria = {
      title: 'acta',
      text: 'La feria es del 3 al 5 de junio de 2026; el puesto cuesta 4.800 euros. La guía Sorter 3 dura poco.',
    };
    expect(await answer('¿Cuánto cuesta el puesto en la feria?', [feria])).to.match(/^4\.800 euros: /);
    const kuchen = { title: 'kuchen', text: 'IP-Adressen werden nach 14 Tagen gelöscht.' };
    expect(await answer('Nach wie vielen Tagen werden IP-Adressen gelöscht?', [kuchen])).to.match(/^14 Tagen: /);
  });

  it('are given to questions of other languages about words that no dictionary has', async () => {
    for (const [text, question, said] of [
      ['Das Bürgerforum moderiert Frau Özdemir.', 'Wer moderiert das Bürgerforum?', /Özdemir/],
      ['Herr Quast wohnt in Köln. Er sammelt Mokkalöffel.', 'Was sammelt Herr Quast?', /Mokkalöffel/],
      ['Der Rührbesen liegt im Spülbecken.', 'Wo liegt der Rührbesen?', /Spülbecken/],
      ['Le défibrillateur se trouve près du guichet.', 'Où se trouve le défibrillateur ?', /guichet/],
      ['El desfibrilador fue donado por Inés Ramos.', '¿Quién donó el desfibrilador?', /Ramos/],
    ] as const)
      expect(await answer(question, [{ title: 'note', text }]), question).to.match(said);
  });

  it('name what stands behind the verb, and a phone number with the code of its country', async () => {
    const notes = {
      title: 'notes',
      text: 'In them she, Ada Lovelace, wrote the first algorithm for the Analytical Engine in 1843. Marta lost her camera in the train to Nara. Call the plumber at +49 551 39 77 12 before noon.',
    };
    expect(await answer('What did Ada write?', [notes])).to.match(/^the first algorithm: /);
    expect(await answer('What did Marta lose?', [notes])).to.match(/^her camera: /);
    expect(await answer("What is the plumber's phone number?", [notes])).to.match(/^\+49 551 39 77 12: /);
  });

  it('quote the headers of a mail only where a mail is asked for, and fields of a record apart from each other', async () => {
    const mail = {
      title: 'mail',
      text: 'From: Dr. Weber <w@weber.example>\nDate: Wed, 11 Nov 2026 08:00:00 +0100\nSubject: Zahnreinigung\n\nIhr Termin bei Dr. Weber ist am 2. Dezember 2026.\n\nname: Ilse Weber\nnote: dentist\nphone: 0551 44 20 10',
    };
    expect(await answer('Wann ist mein Termin bei Dr. Weber?', [mail])).to.not.match(/"(?:From|Date):/);
    expect(await answer('Who sent the mail about the Zahnreinigung?', [mail])).to.match(/From: Dr\. Weber/);
    expect(await answer('What does the note of Ilse Weber say?', [mail])).to.include('name: Ilse Weber, note: dentist');
  });

  it('refuse what shares no word and no meaning with the question', async () => {
    const mail = {
      title: 'mail',
      text: 'From: Jane Doe <jane@acme.example>\nDate: Tue, 3 Nov 2026 09:12:00 +0100\nSubject: Kick-off of the Atlas project\n\nHi Tom,\n\nthanks for the call yesterday. We start Atlas on Monday, 16 November. Priya Nair will lead the engineering side.\n\nname: Jane Doe\nrole: Head of Sales',
    };
    const reply = {
      title: 'reply',
      text: 'From: Tom Berg <tom@northwind.example>\nTo: Jane Doe <jane.doe@acme.example>\nSubject: Re: Kick-off of the Atlas project\nDate: Wed, 4 Nov 2026 17:40:00 +0100\n\nHi Jane,\n\nthe contract is attached. One change: the budget was raised to 52,000 EUR by our CFO, Lena Vogt. I am on holiday from\n20 to 27 November; Marco is my stand-in.\n\nTom\n\n> We start Atlas on Monday, 16 November. The budget is 48,000 EUR',
    };
    expect(await answer('When did we marry?', [mail, reply])).to.match(/^Nothing/);
    expect(await answer('When do we start Atlas?', [mail, reply])).to.include('16 November');
  });

  it('leave out what a question excludes', async () => {
    const trip = { title: 'trip', text: 'In Japan we visited the city of Kyoto and the city of Kanazawa.' };
    const museums = { title: 'museums', text: 'We liked the Nezu Museum and the Miho Museum.' };
    expect(await answer('Which Japanese city besides Kyoto did we visit?', [trip])).to.match(/^Kanazawa: /);
    expect(await answer('Which museum other than the Nezu Museum did we like?', [museums])).to.match(/^Miho Museum: /);
  });

  it('name no adverb and no month where a person is asked for', async () => {
    const trip = {
      title: 'trip',
      text: 'Halfway through the trip a tyre was punctured and fixed. Our well was tested in March 2023.',
    };
    for (const asked of ['Who fixed our tyre on the trip?', 'Who tested our well?'])
      expect(await answer(asked, [trip])).to.not.match(/^(?:Halfway|March)/);
  });

  it('name no pronoun, no verb and not who is asked about', async () => {
    const luna = {
      title: 'luna',
      text: 'None of us knew how shy Luna was. Luna sleeps on my keyboard while I work.',
    };
    expect(await answer('Where does Luna sleep?', [luna])).to.match(/^(?:my keyboard: )?"Luna sleeps/);
    expect(await answer('Who knew how shy Luna was?', [luna])).not.to.match(/^None/);
    const ada = { title: 'ada', text: 'Ada Lovelace wrote the first program. Ada Lovelace lived in London.' };
    expect(await answer('What did Ada write?', [ada])).to.match(/^"Ada Lovelace wrote the first program\."/);
  });

  it('begin with a date, an amount or a speaker of the text, never with the time of the turn or a unit', async () => {
    const talk = {
      title: 'talk',
      text: '[2026-03-02 10:15] Anna: The release is on 14 March 2026.\n[2026-03-02 10:17] Ben: Good, I will tell the customers.\n[2026-03-02 10:20] Anna: The new office costs EUR 4,200 per month.',
    };
    expect(await answer('When is the release?', [talk])).to.match(/^14 March 2026: "The release/);
    expect(await answer('What does the new office cost?', [talk])).to.match(/^EUR 4,200: "The new office/);
    expect(await answer('Who will tell the customers?', [talk])).to.match(/^Ben: "Good, I will/);
  });

  it('name an amount with the whole of what is counted, never the day of a date', async () => {
    const garden = {
      title: 'garden',
      text: 'I planted 12 tomato plants in April 2024. Three of them died in the frost.',
    };
    expect(await answer('How many tomatoes did I plant?', [garden])).to.match(/^12 tomato plants: "I planted/);
    expect(await answer('How many tomatoes died?', [garden])).to.match(/^(?:Three: )?"Three of them died/);
    const lab = { title: 'lab', text: 'The lab is rented from the city until 31 May 2027.' };
    expect(await answer('How much rent does the lab pay?', [lab])).not.to.match(/^31/);
  });

  it('say what something was moved to, a whole time, and the name behind a kind', async () => {
    const passages = [
      {
        title: 'museum',
        text: 'The opening of the show has moved from 4 July to 18 July. The show is in the old hall.',
      },
      {
        title: 'team',
        text: 'We review code in pairs. On Thursdays at 10:00 there is the weekly meeting in the attic.',
      },
      { title: 'trip', text: 'Sofie takes the 14:10 train and arrives in Lübeck at 16:52. She brings her dog.' },
      { title: 'work', text: 'Since October I work eight hours a week in the library. I like it.' },
      { title: 'tax', text: 'Talked to my tax adviser, Frau Jepsen, on the phone. It took an hour.' },
      { title: 'ferry', text: 'Ferrymaster replaced the old system Gangway two years ago. It is faster.' },
    ];
    const home = [
      'At the Crown, Pete booked a family room for us to sleep in.',
      'Cataract operation on the right eye at the Royal Infirmary, Mr Sengupta.',
      'Planted 24 leeks and two rows of potatoes.',
      'The bunk bed: in oak I can do it for 480, in pine for 310.',
      'Pretzel the cat: weight 5.8 kg in January 2026, 5.1 kg after two days in the shed.',
    ].map((text, at) => ({ title: `home${at}`, text }));
    const leadAtHome = async (question: string) => (await answer(question, home)).split(': "')[0];
    expect(await leadAtHome('Where will we sleep?')).to.equal('Crown');
    expect(await leadAtHome('Who operated on my eye?')).to.equal('Mr Sengupta');
    expect(await leadAtHome('How many leeks did I plant?')).to.equal('24 leeks');
    expect(await leadAtHome('How much would the bunk bed cost in pine?')).to.equal('310');
    expect(await leadAtHome('What is the weight of the cat Pretzel?')).to.equal('5.1 kg');
    const lead = async (question: string) => (await answer(question, passages)).split(': "')[0];
    expect(await lead('When is the opening of the show?')).to.match(/^18 July/u);
    expect(await lead('When is the weekly meeting?')).to.equal('Thursdays at 10:00');
    expect(await lead('When does Sofie arrive in Lübeck?')).to.equal('16:52');
    expect(await lead('Where do I work?')).to.equal('library');
    expect(await lead('Who is my tax adviser?')).to.match(/Jepsen$/u);
    expect(await lead('Which system did Ferrymaster replace?')).to.equal('Gangway');
  });

  it('say how many from the sentence that counts what is asked for, beside one that counts something else', async () => {
    const notes = [
      {
        title: 'harz',
        text: 'In the summer of 2015 I hiked the Harz trail with two friends. The trail took us past four lakes over eleven days. We slept in huts.',
      },
      {
        title: 'script',
        text: 'I spent a winter on the 10,000-line billing script. In the end the code was in twenty well-named files.',
      },
    ];
    const first = async (question: string) => (await answer(question, notes)).split('\n')[0];
    expect(await first('How many days did the Harz trail take?')).to.match(/^eleven days: /u);
    expect(await first('How many friends hiked the Harz trail with me?')).to.match(/^two friends: /u);
    expect(await first('How many files did the billing script end up in?')).to.include('twenty well-named files');
    expect(await answer('How many nights did the Harz trail take?', notes)).to.equal(NOTHING_FITS);
  });

  it('find a phone number in a sentence with a pronoun', async () => {
    const pia = {
      title: 'pia',
      text: 'Pia is our cleaner and comes on Fridays. Call her at 22 41 87 30. She takes the bus.',
    };
    expect(await answer("What is Pia's phone number?", [pia])).to.match(/^(?:22 41 87 30: )?"Call her at/);
    const ben = { title: 'ben', text: 'Ben is our plumber. He comes from Leeds.' };
    expect(await answer("What is Ben's phone number?", [ben])).to.equal(NOTHING_FITS);
  });

  it('quote what is so now before what was so', async () => {
    const sport = {
      title: 'sport',
      text: 'I go to the gym in Kilkenny for exercise. Since January 2025 I go to the pool in Callan instead.',
    };
    expect(await answer('Where do I go for exercise now?', [sport])).to.match(/"Since January 2025 I go to the pool/);
    expect((await answer('Where do I go for exercise?', [sport])).indexOf('Since January')).to.be.below(40);
    const lease = {
      title: 'lease',
      text: "The rent is 480 euros a month including heating. The deposit is three months' rent. Animals are not allowed. Amendment of 3 February 2026: from 1 April 2026 the rent is 510 euros.",
    };
    expect(await answer('How much is the rent of my studio?', [lease])).to.match(/^510 euros: "Amendment/);
  });

  it('say what is of the kind that is asked for, in other words than the question', async () => {
    const life = {
      title: 'life',
      text: 'My cousin Vera visited us in spring. On Sundays I play the old guitar of my father. We cooked spaghetti.',
    };
    expect(await answer('Which musical instrument do I play?', [life])).to.match(/^old guitar: "On Sundays I play/);
    expect(await answer('Which relative visited us?', [life])).to.match(/"My cousin Vera visited us/);
  });

  it('begin with no words of the question', async () => {
    const year = {
      title: 'year',
      text: 'In 2019 I volunteered at the animal shelter every Saturday. In 2020 I moved.',
    };
    expect(await answer('What did I do every Saturday in 2019?', [year])).to.match(/^"In 2019 I volunteered/);
  });

  it('quote a text of one sentence, which is not taken for a heading', async () => {
    const title = `text_${'0'.repeat(32)}`;
    const designed = { title, text: 'Charles Babbage designed the Analytical Engine.' };
    const wrote = { title: 'ada', text: 'Ada wrote the first program for the Analytical Engine. She lived in London.' };
    expect((await answer('Who designed the Analytical Engine?', [wrote, designed])).split('\n')[0]).to.equal(
      'Charles Babbage: "Charles Babbage designed the Analytical Engine." (Charles Babbage designed the Analytical Engine.)',
    );
  });

  it('quote a line that only names its document only when there is nothing else', async () => {
    const title = `text_${'0'.repeat(32)}`;
    const game = 'Medici (board game)';
    const told = { title, text: `${game}\n\nMedici is a German-style board game by Reiner Knizia.` };
    expect(await answer('Is Medici a board game?', [told])).to.equal(
      `Yes: "Medici is a German-style board game by Reiner Knizia." (${game})`,
    );
    expect(await answer('Is Medici a board game?', [{ title, text: game }])).to.equal(`Yes: "${game}" (${game})`);
  });

  const labelled: Readonly<Record<string, readonly [text: string, question: string, answer: string]>> = {
    'a Markdown heading': [
      '# 2017 NCAA Final\n\nNorth Carolina beat Gonzaga by six points.',
      'Who won the 2017 NCAA Final?',
      'North Carolina: "North Carolina beat Gonzaga by six points." (notes › 2017 NCAA Final)',
    ],
    'a key without a value': [
      'plotter:\n  width of the plotter is 3 m\n\nsize:',
      'plotter',
      '"width of the plotter is 3 m" (notes)',
    ],
    'the head and the rule of a table': [
      '| plant | height |\n|-------|--------|\n| oak | 20 m height |',
      'plant height',
      '"plant: oak, height: 20 m height" (notes)',
    ],
  };
  for (const [name, [text, question, expected]] of Object.entries(labelled)) {
    it(`quote the text below ${name}, never the label itself`, async () => {
      expect(await answer(question, [{ title: 'notes', text }])).to.equal(expected);
    });
  }

  it('say that nothing fits when no passage contains the name of the question', async () => {
    expect(await answer('Where was Wolfgang Amadeus Mozart born?')).to.equal(NOTHING_FITS);
    expect(await answer('Where was Mozart born?')).to.equal(NOTHING_FITS);
    expect(await answer('quantum chromodynamics lattice spacing')).to.equal(NOTHING_FITS);
  });

  it('say that nothing fits without passages', () => {
    const retrieval = {
      analysis: { terms: [], entities: [], timeWindow: null, relativeTimes: [] },
      information: [],
      named: [],
      passages: [],
      links: [],
      mentions: [],
    };
    expect(extractiveAnswer('x', retrieval as never, []).text).to.equal(NOTHING_FITS);
  });
});

describe('the evidence block', () => {
  it('names chunk, document and ids with a snippet, in the format that clients parse', async () => {
    const { passages } = await retrieve('Where was Ada Lovelace born?');
    const block = evidenceBlock('Ada Lovelace was born in London.', passages, { snippets: true });
    expect(block.startsWith('\n\nEvidence:\n- chunk 1 of document ada (data_id: ')).to.equal(true);
    expect(block).to.match(/\(data_id: [0-9a-f-]{36}, chunk_id: [0-9a-f-]{36}\): "Ada Lovelace was born in London\. /);
  });

  it('omits passages that share no significant word with the answer', async () => {
    const { passages } = await retrieve('Ada Lovelace Nile Egypt');
    expect(passages.length).to.be.greaterThan(1);
    expect(evidenceBlock('Egypt.', passages, { snippets: true }).match(/^- /gmu)).to.have.length(1);
    expect(evidenceBlock('xyzzy', passages, { snippets: true })).to.equal('');
  });

  it('has no snippet for graph answers, and five bullets at most', async () => {
    const [passage] = (await retrieve('Ada Lovelace')).passages;
    const many = Array.from({ length: 8 }, (_, at) => ({ ...(passage as RankedPassage), id: `chunk-${at}` }));
    const bullets = evidenceBlock('whatever', many, { snippets: false }).match(/^- .*$/gmu) ?? [];
    expect(bullets).to.have.length(5);
    expect(bullets[0]?.endsWith('chunk_id: chunk-0)')).to.equal(true);
  });

  it('cuts long snippets to 160 characters on one line', async () => {
    const [passage] = (await retrieve('Ada Lovelace')).passages;
    const long = { ...(passage as RankedPassage).payload, text: `Ada\n\n${'word '.repeat(80)}` };
    const block = evidenceBlock('Ada', [{ ...(passage as RankedPassage), payload: long }], { snippets: true });
    const snippet = /: "(.*)"$/u.exec(block)?.[1] ?? '';
    expect([...snippet]).to.have.length(160);
    expect(snippet.endsWith('…')).to.equal(true);
  });
});

describe('contexts', () => {
  it('title a passage with its first words and most frequent ones', () => {
    expect(titleOf('The Nile flows through Egypt. Cairo lies on the Nile.')).to.equal(
      'The Nile flows through Egypt. Cairo lies... [nile, flows, through]',
    );
  });

  it('contain the passages that fit, in rank order, and always the first one', async () => {
    const { passages } = await retrieve('Ada Lovelace Nile Egypt engine');
    const lengths = passages.map((passage) => passage.payload.text.length);
    const budget = (lengths[0] ?? 0) + (lengths[1] ?? 0);
    expect(packPassages(passages, budget).map((passage) => passage.id)).to.deep.equal(
      passages.slice(0, 2).map((passage) => passage.id),
    );
    expect(packPassages(passages, 10)[0]?.payload.text).to.have.length(10);
  });
});

describe('the first and the last of several', () => {
  const log = (title: string, text: string) => ({ title, text });
  const logs = [
    log(
      'log-2025',
      '# Garden log 2025\n\n## 27 July\nSecond harvest: 63 kg of plums.\n\n## 8 June\nFirst harvest: 41 kg of cherries.',
    ),
    log('log-2026', '# Garden log 2026\n\n## 30 May\nFirst harvest: 38 kg of cherries.'),
  ];

  it('are told by days below a title with their year', async () => {
    expect(await answer('When was the latest harvest?', logs)).to.match(/^30 May 2026: /);
    expect(await answer('When was our first harvest in 2025?', logs)).to.match(/^8 June 2025: /);
  });
});

describe('a question that has no words but those for a contact', () => {
  it('is answered', async () => {
    const notes = [{ title: 'me', text: 'My phone number is 0131 555 0199. I live in Leith.' }];
    expect(await answer('What is my phone number?', notes)).to.include('0131 555 0199');
  });
});

describe('what has changed', () => {
  const page = {
    title: 'shop',
    text: '# Shop\n\nThe shop is open on Fridays from 15:00 to 18:30. Jars are bought back.',
  };
  const chat = (said: string) => ({
    title: 'chat',
    text: `[20 May 2026, 19:02] Nadia: ${said}\n[20 May 2026, 19:05] Elsa: Good idea`,
  });

  it('is told by what somebody says later in another place', async () => {
    const notes = [page, chat('From June the shop is open on Fridays until 19:30')];
    expect(await answer('Until what time is the shop open on Fridays?', notes)).to.match(/^19:30: /);
  });

  it('is not what was so, nor what is said of another thing', async () => {
    const notes = [page, chat('From June the cellar is locked at 19:30')];
    expect(await answer('Until what time is the shop open on Fridays?', notes)).to.match(/^from 15:00 to 18:30: /);
  });
});

describe('a phrase of a question', () => {
  const notes = [
    {
      title: 'shop',
      text: 'The shop is the old milk room. Nadia looks after it, I only fill the jars. It is open on Fridays.',
    },
  ];

  it('is found in a sentence with another phrase that says the same', async () => {
    expect(await answer('Who is responsible for the shop?', notes)).to.match(/^Nadia: /);
    expect(await answer('Who is in charge of the shop?', notes)).to.match(/^Nadia: /);
  });
});

describe('the day of an entry', () => {
  const log = [
    { title: 'log', text: '# Log 2026\n\n## 9 March\nOdin escaped and was found at the bakery in Marwell.' },
  ];

  it('tells when it happened, and not when a shop opens that it names', async () => {
    expect(await answer('When was Odin found at the bakery?', log)).to.match(/^9 March 2026: /);
    expect(await answer('When does the bakery in Marwell open?', log)).to.equal(NOTHING_FITS);
  });
});

describe('a French question with its subject behind the verb', () => {
  it('has the verb of the text', async () => {
    const notes = [
      { title: 'jardin', text: 'Les topinambours se récoltent en novembre. Le paillage a coûté 36 euros.' },
    ];
    expect(await answer('Quand récolte-t-on les topinambours ?', notes)).to.include('se récoltent en novembre');
  });
});
