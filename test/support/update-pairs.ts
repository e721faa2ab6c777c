/** Something that was said, and something that was said a year later. */
export interface UpdatePair {
  readonly older: string;
  readonly newer: string;
  /** Words of the older value that no current answer may hold once it is replaced. */
  readonly stale: string;
  readonly question: string;
  /** `trap`: both stay true. */
  readonly kind: 'update' | 'trap';
  readonly why: string;
}

const FIRST = [
  'Anna',
  'Boris',
  'Carla',
  'Dmitri',
  'Elena',
  'Felix',
  'Greta',
  'Hugo',
  'Irena',
  'Jonas',
  'Karim',
  'Lucia',
];
const LAST = ['Petrova', 'Stone', 'Okafor', 'Lindqvist', 'Moreau', 'Tanaka', 'Varga', 'Novak', 'Silva', 'Brandt'];
const ORGS = [
  'Initech',
  'Globex',
  'Hooli',
  'Vandelay Industries',
  'Wayne Logistics',
  'Umbrella Foods',
  'Stark Tooling',
];
const CITIES = ['Berlin', 'Lisbon', 'Oslo', 'Toronto', 'Madrid', 'Prague', 'Vienna', 'Dublin', 'Helsinki'];
const THINGS = ['Widget', 'Gadget', 'Sprocket', 'Beacon', 'Harbor', 'Falcon', 'Meridian', 'Cobalt'];
const STATUSES = ['planned', 'in progress', 'on hold', 'done', 'blocked by legal'];
const COLOURS = ['teal', 'crimson', 'amber', 'violet', 'olive'];
const MONTHS = ['March', 'April', 'May', 'June', 'July'];

type Template = (parts: Parts) => Omit<UpdatePair, 'kind' | 'why'>;

/** Names differ from pair to pair; values differ between old and new. */
interface Parts {
  readonly person: string;
  readonly other: string;
  readonly thing: string;
  readonly otherThing: string;
  readonly org: readonly [string, string];
  readonly city: readonly [string, string];
  readonly status: readonly [string, string];
  readonly colour: readonly [string, string];
  readonly month: readonly [string, string];
  readonly number: readonly [number, number];
}

const pick = <Value>(list: readonly Value[], at: number): Value => list[at % list.length] as Value;
const two = <Value>(list: readonly Value[], at: number) => [pick(list, at), pick(list, at + 1 + (at % 3))] as const;

function partsOf(at: number): Parts {
  const name = (n: number) =>
    `${pick(FIRST, n)} ${pick(LAST, Math.floor(n / FIRST.length) + n)}-${String.fromCharCode(65 + (n % 26))}${Math.floor(n / 26)}`;
  return {
    person: name(2 * at),
    other: name(2 * at + 1),
    thing: `${pick(THINGS, at)} ${at + 100}`,
    otherThing: `${pick(THINGS, at + 1)} ${at + 500}`,
    org: two(ORGS, at),
    city: two(CITIES, at),
    status: two(STATUSES, at),
    colour: two(COLOURS, at),
    month: two(MONTHS, at),
    number: [12 + (at % 40), 60 + (at % 30)],
  };
}

/** What people write when something changed; the last ones are beyond plain rules. */
const UPDATES: Readonly<Record<string, Template>> = {
  job: ({ person, org }) => ({
    older: `${person} works at ${org[0]}.`,
    newer: `${person} now works for ${org[1]}.`,
    stale: org[0],
    question: `Where does ${person} work?`,
  }),
  'job with a role': ({ person, org }) => ({
    older: `${person} is employed by ${org[0]} as a designer.`,
    newer: `Update: ${person} has started working at ${org[1]} as a lead designer.`,
    stale: org[0],
    question: `Where does ${person} work?`,
  }),
  home: ({ person, city }) => ({
    older: `${person} lives in ${city[0]}.`,
    newer: `${person} has moved to ${city[1]}.`,
    stale: city[0],
    question: `Where does ${person} live?`,
  }),
  'home, plainly': ({ person, city }) => ({
    older: `${person} lives in ${city[0]}.`,
    newer: `${person} lives in ${city[1]} these days.`,
    stale: city[0],
    question: `Where does ${person} live?`,
  }),
  price: ({ thing, number }) => ({
    older: `The price of ${thing} is $${number[0]}.`,
    newer: `${thing} now costs ${number[1]} dollars.`,
    stale: `$${number[0]}.`,
    question: `What does ${thing} cost?`,
  }),
  'price, changed': ({ thing, number }) => ({
    older: `${thing} costs €${number[0]}.`,
    newer: `The price of ${thing} has been raised to €${number[1]}.`,
    stale: `€${number[0]}.`,
    question: `What does ${thing} cost?`,
  }),
  status: ({ thing, status }) => ({
    older: `The status of Project ${thing} is ${status[0]}.`,
    newer: `Project ${thing}'s status changed from ${status[0]} to ${status[1]}.`,
    stale: `is ${status[0]}.`,
    question: `What is the status of Project ${thing}?`,
  }),
  version: ({ thing, number }) => ({
    older: `Server ${thing} is at version 1.${number[0]}.0.`,
    newer: `Server ${thing}'s version is now 2.${number[1]}.1.`,
    stale: `1.${number[0]}.0`,
    question: `Which version has Server ${thing}?`,
  }),
  telephone: ({ person, number }) => ({
    older: `${person}'s phone number is +49 30 555${number[0]}17.`,
    newer: `${person}'s new phone number is +49 40 777${number[1]}29.`,
    stale: `555${number[0]}17`,
    question: `What is the phone number of ${person}?`,
  }),
  mail: ({ person, number }) => ({
    older: `${person}'s email address is mail${number[0]}@old.example.com.`,
    newer: `${person}'s email is mail${number[1]}@new.example.com.`,
    stale: `mail${number[0]}@old`,
    question: `What is the email address of ${person}?`,
  }),
  role: ({ person, other, thing }) => ({
    older: `The CEO of ${thing} Holdings is ${person}.`,
    newer: `${other} became the CEO of ${thing} Holdings.`,
    stale: `is ${person}`,
    question: `Who is the CEO of ${thing} Holdings?`,
  }),
  deadline: ({ thing, month, number }) => ({
    older: `The deadline for Project ${thing} is 5 ${month[0]} 2031.`,
    newer: `The deadline for Project ${thing} has been moved to ${(number[1] % 20) + 6} ${month[1]} 2031.`,
    stale: `5 ${month[0]} 2031`,
    question: `When is the deadline for Project ${thing}?`,
  }),
  seat: ({ thing, city }) => ({
    older: `${thing} Group is headquartered in ${city[0]}.`,
    newer: `${thing} Group has moved its headquarters from ${city[0]} to ${city[1]}.`,
    stale: `in ${city[0]}.`,
    question: `Where is ${thing} Group headquartered?`,
  }),
  room: ({ thing, number }) => ({
    older: `Printer ${thing} is located in Room ${number[0]}.`,
    newer: `Printer ${thing} is now located in Room ${number[1]}.`,
    stale: `Room ${number[0]}`,
    question: `Where is Printer ${thing}?`,
  }),
  taste: ({ person, colour }) => ({
    older: `${person}'s favorite color is ${colour[0]}.`,
    newer: `${person}'s favourite colour is now ${colour[1]}.`,
    stale: `is ${colour[0]}.`,
    question: `What is the favorite color of ${person}?`,
  }),
  end: ({ person, org }) => ({
    older: `${person} works at ${org[0]}.`,
    newer: `${person} no longer works at ${org[0]}.`,
    stale: `works at ${org[0]}.`,
    question: `Does ${person} work at ${org[0]}?`,
  }),
  'beyond: two clauses': ({ person, org }) => ({
    older: `${person} works at ${org[0]}.`,
    newer: `${person} left ${org[0]} and signed a contract with ${org[1]}.`,
    stale: `works at ${org[0]}.`,
    question: `Where does ${person} work?`,
  }),
};

const TRAPS: Readonly<Record<string, Template>> = {
  'another subject': ({ person, other, org }) => ({
    older: `${person} works at ${org[0]}.`,
    newer: `${other} works at ${org[1]}.`,
    stale: org[0],
    question: `Where does ${person} work?`,
  }),
  'a subject with a longer name': ({ thing, number }) => ({
    older: `The price of ${thing} is $${number[0]}.`,
    newer: `The price of ${thing} Deluxe is $${number[1]}.`,
    stale: `$${number[0]}`,
    question: `What is the price of ${thing}?`,
  }),
  negation: ({ person, org }) => ({
    older: `${person} works at ${org[0]}.`,
    newer: `${person} does not work at ${org[1]}.`,
    stale: org[0],
    question: `Where does ${person} work?`,
  }),
  'the end of something else': ({ person, org }) => ({
    older: `${person} works at ${org[0]}.`,
    newer: `${person} no longer works at ${org[1]}.`,
    stale: org[0],
    question: `Where does ${person} work?`,
  }),
  past: ({ person, city }) => ({
    older: `${person} lives in ${city[0]}.`,
    newer: `${person} used to live in ${city[1]}.`,
    stale: city[0],
    question: `Where does ${person} live?`,
  }),
  'a year that is over': ({ person, org }) => ({
    older: `${person} works at ${org[0]}.`,
    newer: `In 2019, ${person} worked at ${org[1]}.`,
    stale: org[0],
    question: `Where does ${person} work?`,
  }),
  'an older state, told later': ({ thing, city }) => ({
    older: `${thing} Group is based in ${city[0]}.`,
    newer: `As of 2015, ${thing} Group is based in ${city[1]}.`,
    stale: city[0],
    question: `Where is ${thing} Group based?`,
  }),
  'a number of its own time': ({ thing, number }) => ({
    older: `As of 2020, the population of ${thing} is ${number[0]}000.`,
    newer: `The population of ${thing} is ${number[1]}000.`,
    stale: `${number[0]}000`,
    question: `What was the population of ${thing} in 2020?`,
  }),
  hypothesis: ({ person, org }) => ({
    older: `${person} works at ${org[0]}.`,
    newer: `If ${person} works at ${org[1]}, we have a conflict.`,
    stale: org[0],
    question: `Where does ${person} work?`,
  }),
  wish: ({ person, city }) => ({
    older: `${person} lives in ${city[0]}.`,
    newer: `${person} wants to move to ${city[1]}.`,
    stale: city[0],
    question: `Where does ${person} live?`,
  }),
  plan: ({ thing, number }) => ({
    older: `${thing} costs $${number[0]}.`,
    newer: `The price of ${thing} will be raised to $${number[1]} next year.`,
    stale: `$${number[0]}`,
    question: `What does ${thing} cost?`,
  }),
  quotation: ({ person, org }) => ({
    older: `${person} works at ${org[0]}.`,
    newer: `The novel begins: "${person} works at ${org[1]}."`,
    stale: org[0],
    question: `Where does ${person} work?`,
  }),
  hearsay: ({ person, other, org }) => ({
    older: `${person} works at ${org[0]}.`,
    newer: `${other} says ${person} works at ${org[1]}.`,
    stale: org[0],
    question: `Where does ${person} work?`,
  }),
  'a longer quotation': ({ person, org }) => ({
    older: `${person} works at ${org[0]}.`,
    newer: `The play opens: "Night falls. ${person} works at ${org[1]}. The lights go out."`,
    stale: org[0],
    question: `Where does ${person} work?`,
  }),
  imagined: ({ person, org }) => ({
    older: `${person} works at ${org[0]}.`,
    newer: `Imagine the following. ${person} works at ${org[1]}.`,
    stale: org[0],
    question: `Where does ${person} work?`,
  }),
  'taken back': ({ person, org }) => ({
    older: `${person} works at ${org[0]}.`,
    newer: `${person} works at ${org[1]}. Just kidding!`,
    stale: org[0],
    question: `Where does ${person} work?`,
  }),
  'two places of one name': ({ thing }) => ({
    older: `Mount ${thing} is located in Spain.`,
    newer: `Mount ${thing} is located in Chile.`,
    stale: 'Spain',
    question: `Where is Mount ${thing}?`,
  }),
  question: ({ person, org }) => ({
    older: `${person} works at ${org[0]}.`,
    newer: `Is it true that ${person} works at ${org[1]}?`,
    stale: org[0],
    question: `Where does ${person} work?`,
  }),
  'another unit': ({ thing, number }) => ({
    older: `The capacity of Tank ${thing} is ${number[0]} GB.`,
    newer: `The capacity of Tank ${thing} is ${number[0]},000 MB.`,
    stale: `${number[0]} GB`,
    question: `What is the capacity of Tank ${thing}?`,
  }),
  'another currency': ({ thing, number }) => ({
    older: `${thing} costs $${number[0]}.`,
    newer: `${thing} costs €${number[1]}.`,
    stale: `$${number[0]}`,
    question: `What does ${thing} cost in dollars?`,
  }),
  'another period': ({ thing, number }) => ({
    older: `${thing} costs $${number[0]} per month.`,
    newer: `${thing} costs $${number[1] * 9} per year.`,
    stale: `$${number[0]} per month`,
    question: `What does ${thing} cost per month?`,
  }),
  rounding: ({ thing, number }) => ({
    older: `The population of ${thing} is ${number[0]}.6 million.`,
    newer: `The population of ${thing} is ${number[0]},645,211.`,
    stale: `${number[0]}.6 million`,
    question: `What is the population of ${thing}?`,
  }),
  'another spelling of a date': ({ thing, month }) => ({
    older: `The deadline for Project ${thing} is 5 ${month[0]} 2031.`,
    newer: `The deadline for Project ${thing} is ${month[0]} 5, 2031.`,
    stale: `5 ${month[0]} 2031`,
    question: `When is the deadline for Project ${thing}?`,
  }),
  'a coarser date': ({ thing, month }) => ({
    older: `The deadline for Project ${thing} is 5 ${month[0]} 2031.`,
    newer: `The deadline for Project ${thing} is ${month[0]} 2031.`,
    stale: `5 ${month[0]} 2031`,
    question: `When is the deadline for Project ${thing}?`,
  }),
  'a place within the other': ({ person, city }) => ({
    older: `${person} lives in ${city[0]}.`,
    newer: `${person} lives in the Old Harbour Quarter.`,
    stale: city[0],
    question: `In which city does ${person} live?`,
  }),
  'the country of the city': ({ person }) => ({
    older: `${person} lives in Germany.`,
    newer: `${person} now lives in Berlin.`,
    stale: 'Germany',
    question: `In which country does ${person} live?`,
  }),
  'a part of the company': ({ person, org }) => ({
    older: `${person} works at ${org[0]}.`,
    newer: `${person} works at ${org[0]} Research.`,
    stale: `${org[0]}.`,
    question: `Where does ${person} work?`,
  }),
  'another attribute': ({ person, number }) => ({
    older: `${person}'s work phone number is +49 30 555${number[0]}17.`,
    newer: `${person}'s home phone number is +49 40 777${number[1]}29.`,
    stale: `555${number[0]}17`,
    question: `What is the work phone number of ${person}?`,
  }),
  'many at a time': ({ person, other, thing }) => ({
    older: `${person} knows ${other}.`,
    newer: `${person} knows ${thing} Smith.`,
    stale: other,
    question: `Whom does ${person} know?`,
  }),
  'one more': ({ person, org }) => ({
    older: `${person} works at ${org[0]}.`,
    newer: `${person} also works at ${org[1]}.`,
    stale: org[0],
    question: `Where does ${person} work?`,
  }),
  'another office': ({ person, other, thing }) => ({
    older: `The president of ${thing} Holdings is ${person}.`,
    newer: `The vice president of ${thing} Holdings is ${other}.`,
    stale: person,
    question: `Who is the president of ${thing} Holdings?`,
  }),
  'an office in between': ({ person, other, thing }) => ({
    older: `The CEO of ${thing} Holdings is ${person}.`,
    newer: `${other} is the acting CEO of ${thing} Holdings Asia.`,
    stale: person,
    question: `Who is the CEO of ${thing} Holdings?`,
  }),
  'a team and no town': ({ person, city }) => ({
    older: `${person} lives in ${city[0]}.`,
    newer: `${person} moved to Marketing.`,
    stale: city[0],
    question: `Where does ${person} live?`,
  }),
  exception: ({ thing, status }) => ({
    older: `Project ${thing}'s status is ${status[0]}.`,
    newer: `Project ${thing}'s status is ${status[1]} or ${status[0]}.`,
    stale: `is ${status[0]}.`,
    question: `What is the status of Project ${thing}?`,
  }),
};

/** `count` pairs, updates and traps in turn, each about subjects of its own. Deterministic. */
export function updatePairs(count: number): readonly UpdatePair[] {
  const of = (templates: Readonly<Record<string, Template>>, kind: UpdatePair['kind'], at: number): UpdatePair => {
    const [why, template] = pick(Object.entries(templates), Math.floor(at / 2));
    return { ...template(partsOf(at)), kind, why };
  };
  return Array.from({ length: count }, (_, at) => (at % 2 === 0 ? of(UPDATES, 'update', at) : of(TRAPS, 'trap', at)));
}
