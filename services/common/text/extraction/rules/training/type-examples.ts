import { typeEvidence } from '../draft.ts';
import { readNames } from '../extract-by-rules.ts';
import { createTagger, type Tagger } from '../tagger.ts';
import { OTHER, TYPE_SLOTS, typeFeatures } from '../type-model.ts';
import { type LabelledDocument, normalName } from './labelled-document.ts';
import type { Example, TrainingOptions } from './train-slot-model.ts';

export const TYPE_TRAINING: TrainingOptions = {
  classes: ['Person', 'Organisation', 'Place', 'Work', 'Product', OTHER],
  slots: TYPE_SLOTS,
  buckets: 8192,
  epochs: 15,
  rate: 0.08,
  decay: 3e-4,
  vectorScale: 3,
};

const CLASS_OF_LABEL: Readonly<Record<string, string>> = {
  person: 'Person',
  organisation: 'Organisation',
  place: 'Place',
};

/** Properties of Wikidata that works have, and products: of an author, a performer, a director; of a manufacturer, a platform. */
const PROPERTIES_OF_WORKS = new Set('P50 P57 P58 P86 P161 P162 P170 P175 P264 P449 P495 P577 P676 P840'.split(' '));
const PROPERTIES_OF_PRODUCTS = new Set('P176 P178 P400'.split(' '));

/** Invented names, which only the words around them explain. */
const INVENTED_NAMES = {
  Person:
    'Farel Nooran, Odalys, Tamsin Brook, Kirrin, Ivo Tarrant, Merrin, Sabela Quint, Jorun, Anneke van Loren, Ullmar, Shirin Dastan, Pello',
  Place:
    'Kelswick, Abermoor, Torrelida, Sanvero, Upper Hallen, Dunmarra, Vissby Point, Naroshima, Ostrava Bay, Brenno, Kinsho',
  Organisation:
    'Condrel, Ostrel Works, Monvo, Havenly, Green Fenwick, Brask, Tellmann, Northpine, Aldra Capital, Hoven Insurance, Quell, Sportiva Alto',
  Work: 'Pirandesi, Slow Rivers, Moonwhistle, The Glass Orchard, Ember, Nine Quiet Rooms, Salt Road',
  Product: 'Vallanti, Nebbrolo, Korvex, Tidepool, Zentra, Lumo, Quillbox, Fenra',
  [OTHER]: 'Dravism, Ostara Night, Level Six, Korell Effect, Operation Larch, Nimbari',
} as const;

/** Names of products that articles hardly have and technical notes are full of, and other words that look like them. */
const TECHNICAL_NAMES = `SQLite, MySQL, PostgreSQL, MongoDB, Redis, Kafka, Elasticsearch, Neo4j, NATS, Docker, Kubernetes, Helm, Windows, Linux, Ubuntu, Debian,
  Android, Python, Java, JavaScript, TypeScript, Rust, Ruby, Swift, Kotlin, Scala, Perl, Fortran, Haskell, Node, React, Angular, Vue,
  Svelte, Django, Flask, Rails, Spring, Laravel, Express, Webpack, Vite, Babel, Git, Jenkins, Grafana, Prometheus, Terraform, Ansible,
  Nginx, Apache, Safari, Chrome, Firefox, Excel, Word, Outlook, Photoshop, Slack, Jira, Confluence, Notion, Figma, Markdown, Bluetooth,
  Loki, Vault, Consul, Istio, Envoy, Traefik, Airflow, Spark, Flink, Snowflake, Looker, Sentry, Datadog, Windows 11, Node 20, PostgreSQL 16, Pixel 8, Debian 12, Galaxy S23, Raspberry Pi 4, iPhone, Kindle, ThinkPad`;
const OTHER_TERMS = `API, SDK, URL, URI, HTTP, HTTPS, JSON, YAML, XML, CSV, SQL, CSS, HTML, CPU, GPU, RAM, USB, PDF, CLI, TLS, SSL, Unicode, Ethernet,
  DNS, TCP, UDP, JWT, REST, ORM, IDE, CDN, CI, LLM, AI, ML, GDP, VAT, DNA, ATM, CEO, CTO, CFO, FAQ, TODO, README, MCP, UUID, SDKs, APIs,
  Hiragana, Katakana, Kanji, Esperanto, Yoga, Pilates, Sudoku, Monday, Christmas, Easter, Ramadan, Promise, Boolean, String, Array`;

const PRODUCT_SENTENCES = `Jobs are queued in _. Metrics go to _, and logs to a file. We moved to _ last year. The queue of _ lost jobs when the node restarted.
    Sign-in uses _ over the network. We use _ with the standard driver. The service talks to _. You need _ and a database. It is deployed with
    _ to the cluster. I set up _ on the server. Here _ keeps the events. Then _ runs in a container. The dashboard is in _. They use _ for
    everything. The migration from _ took a week. Certificates are renewed by _. Data is stored in _ and read by the workers. Install _ with
    the package manager. She replaced the old tool with _. The retention of _ is ten days. It runs on _ and needs 2 GB of memory. The plugin
    for _ is broken. Last night _ crashed twice. We upgraded _ to the new version. Backups are made with _ every night. Open _ and log in.
    It is written in _ by two people. The page does not load in _. I prefer _ because it is faster. Support for _ was dropped.`;

/** Sentences of notes and of technical documents, which articles do not have; `_` is a name. */
const EVERYDAY_SENTENCES: readonly (readonly [string, string, string])[] = [
  [
    'Person',
    INVENTED_NAMES.Person,
    `My manager is called _. Dinner with _ at the new place. We met _ and her sister at the party. Yesterday _ called from the station.
    Dr. _ thinks it is arthritis. I talked to _ about the budget. My neighbour _ prefers tea. Thanks to _ for the review. Page _ if the
    queue grows. Then _ set up the backups. You should ask _ whether it is signed. Physio with _ on Monday. The team is me, _ and two
    others. Later _ lent me his drill. It was written by _ in a weekend. The recipe is from _, with rice. Lunch with _ on Friday. Next _ finishes
    the migration. On Tuesday _ restarted the server. The meeting was led by _ from sales. The song is by _. Here _ scored twice. We waited for _
    to review it. The ticket of _ is still open. Then _ moves the certificates. This time _ blames the kernel. For a year _ and I shared a flat. In the afternoon _ gave me a book. The opener was scored by _, who was later injured. Yesterday _ conducted the orchestra. The foreword is by _. The hill was climbed by _, our guide. The main role is played by _.`,
  ],
  [
    'Place',
    INVENTED_NAMES.Place,
    `Drove up to _ on Friday night. We stayed in _, above a bakery. He moves to _ in April. I broke a spoke near _. The office is in _, two
    minutes from the station. We walked to _ because the tram was full. We flew to _ in May. On Saturday we climbed _ in the rain. Half
    marathon in _, in the heat. The supermarket in _ has them. The train to _ was late. I grew up in _ near the sea. The hotel in _ had a pool.
    We landed at _ in the morning. They swam in _ before breakfast. She walked from _ to the coast. We took the line to _ and changed there. The new factory in _ opens soon. The container left _ on Monday. They play in _ in November. In _ we had soup and bought tea. The warehouse in _ is full. In the evening we visited _ with friends.`,
  ],
  [
    'Organisation',
    INVENTED_NAMES.Organisation,
    `I started the new job at _ today. I moved my savings to a bank, _. The mortgage offer from _ is good. Bike service at _, with a new chain.
    We bought boots at _. The invoice from _ came in March. We signed the contract with _. They opened an account with _. The band _ opened the
    show. This year _ raised their prices. Our supplier _ delivers on Friday. I flew with _ to the coast. Last year _ raised ten million euros in a
    round. The company _ hired two engineers. She joined _ as a manager. On Monday _ ordered forty pallets. The container was shipped by _. Next week
    _ play in the arena. Saw _ at the festival. The new album by _ is out. On Saturday _ won the match. Today _ beat the champions at home. On Wednesday _ travel to the coast. This week _ tells me that it has left the port. The certificate of _ is missing. In the end _ sells electricity to small firms. The lead investor was _, a fund. He plays for _ and lives nearby. The onboarding of _ took two weeks. The phone
    is made by _ in Asia. The office of _ is closed. Electricity comes from _. Customers such as _ pay monthly.`,
  ],
  [
    'Work',
    INVENTED_NAMES.Work,
    `I read _ in two days. The next book is _. We watched _ on television. They opened with _ and closed the set. I learned to play _ on the
    ukulele. She prefers the series _ to films. I finished _ at last. My favourite film is _, directed by a friend. I gave up on _ after three episodes.
    The new season of _ is slow. They sang _ as an encore. The album _ was recorded in a hurry. I bought a copy of _ for ten euros. The novel _ won a prize. Tonight _ is on television. In
    the first chapter of _ nothing happens. She wrote _ when she was twenty. We saw _ at the cinema. He stars in _ as a detective. I listened to _ on the way home.`,
  ],
  [
    'Product',
    INVENTED_NAMES.Product,
    `The boiler is a _, with a broken sensor. The vet prescribed _. I bought a _ last week. My bike is a _. We drank a bottle of _. I ordered a _
    for 200 euros. The _ has a good battery. My _ is broken again. New shoes: a pair of _. The battery of the _ lasts two days. The _ is too heavy for me. I took two tablets of _. The router is a _ by a small maker.
    Its main product, _, predicts demand. I compared the _ with the old one. The car is a _ from 2012. ${PRODUCT_SENTENCES}`,
  ],
  ['Product', TECHNICAL_NAMES, PRODUCT_SENTENCES],
  [
    OTHER,
    INVENTED_NAMES[OTHER],
    `I passed the _ exam. The course is called _. The licence is _. We celebrate _ in the spring. He is a follower of _. The theory of _ is old.
    The status is _. I started with _ when I was ten. They finished second in the _ this year. She won the _ twice. It happened during _. Next year we go to the _ again.`,
  ],
  [
    OTHER,
    OTHER_TERMS,
    `The _ is documented. We learned about _ in the course. The answer has a _ in it. It is sent as _ to the server. You need an _ for this. It is not about _ at all. The talk about _ was long.`,
  ],
];
/** Names as the extractor reads them, with their labels; names without a label are no person, organisation or place. */
export function entityTypeExamples(documents: readonly LabelledDocument[]): Example[] {
  const tag = createTagger();
  const named = documents.flatMap((document, group) => {
    const classes = document.entities.map(({ type }, at) => CLASS_OF_LABEL[type] ?? classOfThing(document, at));
    const labels = new Map(
      document.entities.flatMap(({ names }, at) => names.map((name) => [normalName(name), classes[at] ?? OTHER])),
    );
    const input = { text: document.text, documentName: '', headings: [], knownNames: [] };
    const { drafts, classes: nouns, topic } = readNames(input, tag);
    return [...drafts].flatMap(([key, draft]): Example[] => {
      if (draft.kind !== 'name' && draft.kind !== 'acronym' && draft.kind !== 'work') return [];
      const spellings = [draft.name, ...draft.aliases].map(normalName);
      const label = spellings.map((name) => labels.get(name)).find((type) => type !== undefined);
      // A longer or shorter name of a labelled entity: its type is not known.
      const isPart = [...labels.keys()].some((other) =>
        spellings.some((name) => name.includes(other) || other.includes(name)),
      );
      if (label === undefined && isPart) return [];
      const features = typeFeatures(typeEvidence(draft, nouns.get(key) ?? null, topic));
      return [{ features, label: label ?? OTHER, group }];
    });
  });
  return [...named, ...everydayExamples(tag)];
}

/** The class of an entity that is no person, organisation or place, by its relations. */
function classOfThing({ entities, relations }: LabelledDocument, at: number): string {
  if (entities[at]?.type !== 'other') return OTHER;
  const properties = relations.filter(({ head }) => head === at).map(({ property }) => property);
  if (properties.some((property) => PROPERTIES_OF_PRODUCTS.has(property))) return 'Product';
  return properties.some((property) => PROPERTIES_OF_WORKS.has(property)) ? 'Work' : OTHER;
}

/** Least number of examples of each sentence and of each name. */
const EXAMPLES_PER_SENTENCE = 3;
const EXAMPLES_PER_NAME = 1;

function everydayExamples(tag: Tagger): Example[] {
  return EVERYDAY_SENTENCES.flatMap(([label, list, text]) => {
    const names = list.split(/,\s+/u);
    const sentences = text.split(/(?<!Dr)\.(?:\s+|$)/u).filter((sentence) => sentence !== '');
    const count = Math.max(EXAMPLES_PER_SENTENCE * sentences.length, EXAMPLES_PER_NAME * names.length);
    return Array.from({ length: count }, (_, at) => {
      // No two rounds join a name with the same sentence.
      const name = names[(at + Math.floor(at / sentences.length)) % names.length] ?? '';
      const sentence = `${sentences[at % sentences.length]?.replaceAll(/\s+/gu, ' ').replace('_', name)}.`;
      const input = { text: sentence, documentName: '', headings: [], knownNames: [] };
      const { drafts, classes, topic } = readNames(input, tag);
      return [...drafts].flatMap(([key, draft]): Example[] => {
        if (draft.name !== name) return [];
        const features = typeFeatures(typeEvidence(draft, classes.get(key) ?? null, topic));
        return [{ features, label, group: -1 }];
      });
    }).flat();
  });
}
