import { z } from 'zod';
import { closedObject, type JsonObject } from '../../common/kernel/json.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import type { Extraction, Extractor } from '../../common/ports/extractor.ts';
import type { LanguageModel } from '../../common/ports/models.ts';
import { FENCE_RULE, fenced } from '../../common/text/fenced.ts';
import { currentModels, type LlmCaller, type LlmDependencies, modelContext } from './model-call.ts';

const SYSTEM = `You design the model of a knowledge graph for texts of the kind you are shown: the kinds of things they are about, what is told of each kind, and how the kinds relate. Classes are general (Person, Company), never single things; relations lead from one class to another and are verb phrases. At most twelve classes. ${FENCE_RULE}`;

/** Infers a graph model for texts like this one: by the language model, or without one from what the rules extract. */
export async function inferSchema(dependencies: LlmDependencies, caller: LlmCaller, text: string): Promise<JsonObject> {
  const { languageModel, extractor } = await currentModels(dependencies, caller);
  const sample = sampleText(text);
  const outline =
    languageModel === null
      ? await outlineByRules(extractor, caller, sample)
      : await outlineByModel(languageModel, caller, sample);
  return graphSchemaOf(outline);
}

async function outlineByModel(model: LanguageModel, caller: LlmCaller, sample: string): Promise<GraphOutline> {
  const call = { system: SYSTEM, prompt: fenced('text', sample), schema: OUTLINE_SCHEMA, schemaName: 'GraphModel' };
  const { value } = await model.structured(call, modelContext(caller));
  const outline = readOutline(value);
  if (outline === null) throw new HttpError(422, { error: 'LLM output did not match expected schema.' });
  return outline;
}

async function outlineByRules(extractor: Extractor, caller: LlmCaller, sample: string): Promise<GraphOutline> {
  const extractions = await Promise.all(
    piecesOf(sample).map((text) =>
      extractor.extract({ text, documentName: 'sample', headings: [], knownNames: [] }, modelContext(caller)),
    ),
  );
  const classes = classesOf(extractions);
  return { title: 'InferredGraph', classes: classes.length > 0 ? classes : [FALLBACK] };
}

/** The class for a text in which the rules find none. */
const FALLBACK: OutlineClass = { name: 'Concept', description: 'What the text is about', fields: [], relations: [] };
const INFERRED_CLASSES = 12;
const INFERRED_RELATIONS = 12;
const MAX_EXAMPLES = 3;

/** Returns the types of the extracted entities and the relations between types, most frequent first. */
function classesOf(extractions: readonly Extraction[]): readonly OutlineClass[] {
  const entities = extractions.flatMap((one) => one.entities).filter(({ isKeyword }) => isKeyword !== true);
  const typeOf = new Map(entities.map(({ name, type }) => [name, type]));
  const kinds = [...Map.groupBy(entities, ({ type }) => type)]
    .toSorted((a, b) => b[1].length - a[1].length)
    .slice(0, INFERRED_CLASSES);
  const stated = extractions.flatMap((one) => one.relations);
  return kinds.map(([name, members]): OutlineClass => {
    const examples = [...new Set(members.map((member) => member.name))].slice(0, MAX_EXAMPLES);
    const counts = new Map<string, { readonly name: string; readonly target: string; count: number }>();
    for (const { source, target, relation } of stated) {
      const to = typeOf.get(target);
      if (typeOf.get(source) !== name || to === undefined) continue;
      const key = `${relation}\n${to}`;
      const known = counts.get(key) ?? { name: relation, target: to, count: 0 };
      counts.set(key, { ...known, count: known.count + 1 });
    }
    const relations = [...counts.values()].toSorted((a, b) => b.count - a.count).slice(0, INFERRED_RELATIONS);
    return { name, description: `For example ${examples.join(', ')}`, fields: [], relations };
  });
}

/** Characters of a sample. */
const MAX_LENGTH = 24_000;
const CUT = '\n[…]\n';

/** Returns the whole text, or its beginning, middle and end, cut at words. */
export function sampleText(text: string): string {
  if (text.length <= MAX_LENGTH) return text.toWellFormed();
  const part = Math.floor(MAX_LENGTH / 3);
  const middle = Math.floor((text.length - part) / 2);
  const starts = [0, middle, text.length - part];
  return starts
    .map((start) => atWords(text.slice(start, start + part)))
    .join(CUT)
    .toWellFormed();
}

function atWords(text: string): string {
  const first = text.search(/\s/u);
  const last = text.lastIndexOf(' ');
  return first === -1 || last <= first ? text : text.slice(first, last).trim();
}

/** Characters of a piece. */
const PIECE_LENGTH = 3000;

/** Cuts a text into pieces of about that length, between paragraphs or sentences where there are any. */
export function piecesOf(text: string): readonly string[] {
  const pieces: string[] = [];
  let piece = '';
  for (const block of text.split(/(?<=\n)\s*\n|(?<=[.!?])\s+/u)) {
    if (piece.length + block.length > PIECE_LENGTH && piece !== '') {
      pieces.push(piece);
      piece = '';
    }
    piece += `${block} `;
  }
  if (piece.trim() !== '') pieces.push(piece);
  return pieces.flatMap((one) => one.match(new RegExp(`[^]{1,${4 * PIECE_LENGTH}}`, 'gu')) ?? []);
}

/** A graph model without the syntax of JSON Schema: classes, their fields and their relations. */
interface GraphOutline {
  readonly title: string;
  readonly classes: readonly OutlineClass[];
}

interface OutlineClass {
  readonly name: string;
  readonly description: string;
  /** Besides `name` and `description`, which every class has. */
  readonly fields: readonly { readonly name: string; readonly description: string }[];
  readonly relations: readonly { readonly name: string; readonly target: string }[];
}

/** JSON schema of a language model's answer. */
const OUTLINE_SCHEMA = closedObject({
  title: { type: 'string' },
  classes: {
    type: 'array',
    items: closedObject({
      name: { type: 'string' },
      description: { type: 'string' },
      fields: { type: 'array', items: described('name', 'description') },
      relations: { type: 'array', items: described('name', 'target') },
    }),
  },
});

function described(...names: readonly string[]): JsonObject {
  return closedObject(Object.fromEntries(names.map((name) => [name, { type: 'string' }])));
}

const text = z.string().trim().min(1);
/** Parses the answer of a language model; null when it is no outline. */
function readOutline(value: unknown): GraphOutline | null {
  const read = z
    .object({
      title: text,
      classes: z
        .array(
          z.object({
            name: text,
            description: z.string().default(''),
            fields: z.array(z.object({ name: text, description: z.string().default('') })).default([]),
            relations: z.array(z.object({ name: text, target: text })).default([]),
          }),
        )
        .min(1),
    })
    .safeParse(value);
  return read.success ? read.data : null;
}

const MAX_CLASSES = 50;
const MAX_MEMBERS = 40;

/** Makes a JSON schema that cognify takes as `graph_model`: one list per class at the root, relations as references. */
export function graphSchemaOf({ title, classes }: GraphOutline): JsonObject {
  const known = new Map<string, OutlineClass>();
  for (const one of classes) {
    const name = className(one.name);
    if (!known.has(name) && known.size < MAX_CLASSES) known.set(name, one);
  }
  const definitions = [...known].map(([name, one]) => [name, definitionOf(name, one, known)] as const);
  const lists = [...known.keys()].map((name) => [fieldName(`${name} list`), listOf(name)] as const);
  return {
    title: className(title),
    type: 'object',
    properties: Object.fromEntries(lists),
    required: lists.map(([name]) => name),
    $defs: Object.fromEntries(definitions),
  };
}

function definitionOf(
  title: string,
  { description, fields, relations }: OutlineClass,
  known: ReadonlyMap<string, unknown>,
) {
  const own = fields
    .slice(0, MAX_MEMBERS)
    .map((field) => [fieldName(field.name), textField(field.description)] as const);
  const references = relations.slice(0, MAX_MEMBERS).flatMap(({ name, target }) => {
    const to = className(target);
    return known.has(to) ? [[fieldName(name), listOf(to)] as const] : [];
  });
  return {
    title,
    type: 'object',
    ...(description.trim() === '' ? {} : { description: description.trim() }),
    properties: {
      ...Object.fromEntries([...references, ...own]),
      name: textField('The fullest name that the text uses'),
      description: textField('What the text says of it'),
    },
    required: ['name'],
  };
}

function textField(description: string): JsonObject {
  return description.trim() === '' ? { type: 'string' } : { type: 'string', description: description.trim() };
}

function listOf(name: string): JsonObject {
  return { type: 'array', items: { $ref: `#/$defs/${name}` } };
}

/** `works at` → `WorksAt`; letters and digits of any script. */
function className(name: string): string {
  const words = wordsOf(name).map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return words.join('') || 'Thing';
}

/** `Works at` → `works_at`. */
function fieldName(name: string): string {
  return wordsOf(name).join('_').toLowerCase() || 'value';
}

function wordsOf(name: string): readonly string[] {
  return name.slice(0, 80).match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
}
