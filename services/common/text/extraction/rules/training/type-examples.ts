import { typeEvidence } from '../draft.ts';
import { readNames } from '../extract-by-rules.ts';
import { createTagger } from '../tagger.ts';
import { OTHER, TYPE_SLOTS, typeFeatures } from '../type-model.ts';
import { type LabelledDocument, normalName } from './labelled-document.ts';
import type { Example, TrainingOptions } from './train-slot-model.ts';

export const TYPE_TRAINING: TrainingOptions = {
  classes: ['Person', 'Organisation', 'Place', 'other'],
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
  other: 'other',
};

/** Names that articles hardly have and technical notes are full of. */
const TECHNICAL_NAMES =
  `SQLite, MySQL, PostgreSQL, MongoDB, Redis, Kafka, Elasticsearch, Neo4j, NATS, Docker, Kubernetes, Helm, Windows, Linux, Ubuntu, Debian,
  Android, Python, Java, JavaScript, TypeScript, Rust, Ruby, Swift, Kotlin, Scala, Perl, Fortran, Haskell, Node, React, Angular, Vue,
  Svelte, Django, Flask, Rails, Spring, Laravel, Express, Webpack, Vite, Babel, Git, Jenkins, Grafana, Prometheus, Terraform, Ansible,
  Nginx, Apache, Safari, Chrome, Firefox, Excel, Word, Outlook, Photoshop, Slack, Jira, Confluence, Notion, Figma, Markdown, Unicode,
  Bluetooth, Ethernet, API, SDK, URL, URI, HTTP, HTTPS, JSON, YAML, XML, CSV, SQL, CSS, HTML, CPU, GPU, RAM, USB, PDF, CLI, TLS, SSL,
  DNS, TCP, UDP, JWT, REST, ORM, IDE, CDN, CI, LLM, AI, ML, GDP, VAT, DNA, ATM, CEO, CTO, CFO, FAQ, TODO, README, MCP, UUID, SDKs, APIs,
  Hiragana, Katakana, Kanji, Esperanto, Yoga, Pilates, Sudoku, Monday, Christmas, Easter, Ramadan, Promise, Boolean, String, Array`.split(
    /,\s+/u,
  );

/** Names as the extractor reads them, with their labels; names without a label are no person, organisation or place. */
export function entityTypeExamples(documents: readonly LabelledDocument[]): Example[] {
  const tag = createTagger();
  const named = documents.flatMap((document, group) => {
    const labels = new Map(
      document.entities.flatMap(({ type, names }) => names.map((name) => [normalName(name), type])),
    );
    const input = { text: document.text, documentName: '', headings: [], knownNames: [] };
    const { drafts, classes, topic } = readNames(input, tag);
    return [...drafts].flatMap(([key, draft]): Example[] => {
      if (draft.kind !== 'name' && draft.kind !== 'acronym' && draft.kind !== 'work') return [];
      const spellings = [draft.name, ...draft.aliases].map(normalName);
      const label = spellings.map((name) => labels.get(name)).find((type) => type !== undefined);
      // A longer or shorter name of a labelled entity: its type is not known.
      const isPart = [...labels.keys()].some((other) =>
        spellings.some((name) => name.includes(other) || other.includes(name)),
      );
      if (label === undefined && isPart) return [];
      const features = typeFeatures(typeEvidence(draft, classes.get(key) ?? null, topic));
      return [{ features, label: CLASS_OF_LABEL[label ?? 'other'] ?? 'other', group }];
    });
  });
  const technical = TECHNICAL_NAMES.map((name): Example => {
    const kind = /^\p{Lu}{2,}$/u.test(name) ? 'acronym' : 'name';
    const [form, guess, className] = [null, 'Concept', null] as const;
    const evidence = {
      name,
      kind,
      form,
      guess,
      className,
      contexts: [],
      votes: new Map(),
      isThing: false,
      neighbours: [],
      topic: [],
    };
    return { features: typeFeatures(evidence), label: OTHER, group: -1 };
  });
  return [...named, ...technical];
}
