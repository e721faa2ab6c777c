import { Readable } from 'node:stream';
import { Parser } from 'n3';
import { RdfXmlParser } from 'rdfxml-streaming-parser';
import type { OntologyPart, OntologyTerm, UnreadableFile } from './ontology.ts';

// Entry of worker processes: files of users are parsed where time and memory are limited.

const RDF = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#';
const RDFS = 'http://www.w3.org/2000/01/rdf-schema#';
const OWL = 'http://www.w3.org/2002/07/owl#';
const CLASS_TYPES: ReadonlySet<string> = new Set([`${OWL}Class`, `${RDFS}Class`]);

const MAX_STATEMENTS = 500_000;
/** Terms or edges of one part of the result. */
const PART_LENGTH = 1000;
const SLICE_BYTES = 64 * 1024;
/** Lexical names and descriptions are cut here. */
const MAX_TEXT = 1000;

/** The part of a parsed statement that is read here. */
interface Statement {
  readonly subject: { readonly termType: string; readonly value: string };
  readonly predicate: { readonly value: string };
  readonly object: { readonly termType: string; readonly value: string; readonly language?: string };
}

/** What the files state of each IRI, by subject. */
interface Resource {
  readonly types: string[];
  readonly superclasses: string[];
  readonly links: (readonly [predicate: string, object: string])[];
  label: string | null;
}

interface ReadInput {
  /** In the order of their bytes in the content. */
  readonly files: readonly { readonly name: string; readonly sizeBytes: number }[];
}

/**
 * Reads RDF files as one ontology: named classes, named individuals of these classes, and the edges between them. Returns the
 * files that could not be read; nothing of these is used.
 */
export async function* readOntology(
  { files }: ReadInput,
  content: Buffer,
): AsyncGenerator<OntologyPart, readonly UnreadableFile[]> {
  const resources = new Map<string, Resource>();
  const unreadable: UnreadableFile[] = [];
  let at = 0;
  for (const { name, sizeBytes } of files) {
    const bytes = content.subarray(at, at + sizeBytes);
    at += sizeBytes;
    try {
      for (const statement of await parseFile(bytes)) add(resources, statement);
    } catch (error) {
      unreadable.push({ name, reason: (error as Error).message.slice(0, 200) });
    }
  }
  const terms = termsOf(resources);
  const properties = new Set(
    [...resources].filter(([, { types }]) => types.includes(`${OWL}ObjectProperty`)).map(([uri]) => uri),
  );
  yield* inParts([...terms.values()], (part) => ({ terms: part }));
  yield* inParts(edgesOf(resources, terms, properties), (part) => ({ edges: part }));
  return unreadable;
}

/** Reads RDF/XML, or Turtle with its relatives (N-Triples, N3, TriG, N-Quads): first what the beginning looks like. */
async function parseFile(bytes: Buffer): Promise<readonly Statement[]> {
  const text = new TextDecoder().decode(bytes);
  if (text.trim() === '') return [];
  const looksLikeXml = /^\s*<(?:[?!]|[\w.-]+(?::[\w.-]+)?[\s>/])/u.test(text);
  const [first, second] = looksLikeXml ? [parseXml, parseTurtle] : [parseTurtle, parseXml];
  try {
    return await first(text);
  } catch (error) {
    if (error instanceof TooLargeError) throw error;
    return second(text).catch(() => {
      throw error;
    });
  }
}

async function parseXml(text: string): Promise<readonly Statement[]> {
  if (endsEarly(text)) throw new Error('it ends before its root element does');
  const statements: Statement[] = [];
  const parser = slicesOf(text).pipe(new RdfXmlParser({ baseIRI: BASE }));
  for await (const quad of parser) keep(statements, quad as Statement);
  return statements;
}

/** The parser takes the beginning of a file for the whole. */
function endsEarly(text: string): boolean {
  const [start, root] = /<((?:[\w.-]+:)?RDF)[\s>]/u.exec(text) ?? [];
  return start !== undefined && !text.includes(`</${root}`) && !text.trimEnd().endsWith('/>');
}

function slicesOf(text: string): Readable {
  return Readable.from(
    (function* () {
      for (let at = 0; at < text.length; at += SLICE_BYTES) yield text.slice(at, at + SLICE_BYTES);
    })(),
  );
}

async function parseTurtle(text: string): Promise<readonly Statement[]> {
  const statements: Statement[] = [];
  const parser = new Parser({ baseIRI: BASE });
  await new Promise<void>((resolve, reject) => {
    parser.parse(text, (error, quad) => {
      if (error) return reject(error);
      if (quad === null) return resolve();
      try {
        keep(statements, quad);
      } catch (tooLarge) {
        reject(tooLarge);
      }
    });
  });
  return statements;
}

/** Relative IRIs of files without a base are resolved against it. */
const BASE = 'urn:ontology:';

class TooLargeError extends Error {}

function keep(statements: Statement[], { subject, predicate, object }: Statement): void {
  if (statements.length === MAX_STATEMENTS) throw new TooLargeError(`it has more than ${MAX_STATEMENTS} statements`);
  // Blank nodes are restrictions and lists, which have no name.
  if (subject.termType !== 'NamedNode') return;
  if (object.termType === 'NamedNode' || predicate.value === `${RDFS}label`) {
    statements.push({ subject, predicate, object });
  }
}

function add(resources: Map<string, Resource>, { subject, predicate, object }: Statement): void {
  const known = resources.get(subject.value);
  const resource: Resource = known ?? { types: [], superclasses: [], links: [], label: null };
  if (known === undefined) resources.set(subject.value, resource);
  if (predicate.value === `${RDF}type`) resource.types.push(object.value);
  else if (predicate.value === `${RDFS}subClassOf`) resource.superclasses.push(object.value);
  else if (predicate.value !== `${RDFS}label`) resource.links.push([predicate.value, object.value]);
  else if (resource.label === null || /^(?:en\b|$)/iu.test(object.language ?? '')) {
    resource.label = object.value.trim().slice(0, MAX_TEXT);
  }
}

function termsOf(resources: ReadonlyMap<string, Resource>): ReadonlyMap<string, OntologyTerm> {
  const classes = new Set<string>();
  for (const [uri, { types }] of resources) if (types.some((type) => CLASS_TYPES.has(type))) classes.add(uri);
  const terms = new Map<string, OntologyTerm>();
  for (const [uri, { types, label }] of resources) {
    const isClass = classes.has(uri);
    const name = localName(uri);
    if (name === '' || !(isClass || types.some((type) => classes.has(type)))) continue;
    terms.set(uri, { uri, kind: isClass ? 'class' : 'individual', name, label: label || null });
  }
  return terms;
}

/** The fragment of the IRI, or its last segment. */
function localName(uri: string): string {
  const name = uri.replace(/[/#]$/u, '').split(/[/#]/u).at(-1) ?? '';
  try {
    return decodeURIComponent(name).slice(0, MAX_TEXT);
  } catch {
    return name.slice(0, MAX_TEXT);
  }
}

function* edgesOf(
  resources: ReadonlyMap<string, Resource>,
  terms: ReadonlyMap<string, OntologyTerm>,
  properties: ReadonlySet<string>,
): Generator<readonly [string, string, string]> {
  for (const [uri, { types, superclasses, links }] of resources) {
    const term = terms.get(uri);
    if (term === undefined) continue;
    const above = term.kind === 'class' ? superclasses : types;
    for (const parent of new Set(above)) {
      if (terms.get(parent)?.kind === 'class' && parent !== uri) yield [uri, 'is_a', parent];
    }
    for (const [property, object] of links) {
      if (properties.has(property) && terms.has(object)) yield [uri, localName(property), object];
    }
  }
}

function* inParts<Row, Part>(rows: Iterable<Row>, partOf: (rows: readonly Row[]) => Part): Generator<Part> {
  let part: Row[] = [];
  for (const row of rows) {
    part.push(row);
    if (part.length < PART_LENGTH) continue;
    yield partOf(part);
    part = [];
  }
  if (part.length > 0) yield partOf(part);
}
