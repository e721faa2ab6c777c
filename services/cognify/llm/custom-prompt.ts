import type { JsonObject } from '../../common/kernel/json.ts';
import { isRecord } from '../../common/kernel/objects.ts';
import { FENCE_RULE, fenced } from '../../common/text/fenced.ts';
import { currentModels, type LlmCaller, type LlmDependencies, modelContext } from './model-call.ts';

const SYSTEM = `You write the instruction with which a language model extracts a knowledge graph from passages of text. It must fit the JSON schema you are shown: say for each class what counts as one, how its fields are filled, which relations are allowed and in which direction, how things are named and identified, and that nothing is put in that the passage does not say. Answer with the instruction alone. ${FENCE_RULE}`;
const MAX_SCHEMA_LENGTH = 60_000;

/** Makes an extraction prompt for a graph model: by the language model, or without one from the schema. */
export async function customPrompt(
  dependencies: LlmDependencies,
  caller: LlmCaller,
  graphModel: JsonObject,
): Promise<string> {
  const { languageModel } = await currentModels(dependencies, caller);
  const schema = JSON.stringify(graphModel);
  if (languageModel === null || schema.length > MAX_SCHEMA_LENGTH) return promptOf(graphModel);
  const prompt = `The schema of the graph:\n${fenced('schema', schema)}`;
  const { text } = await languageModel.text({ system: SYSTEM, prompt }, modelContext(caller));
  return text.trim() === '' ? promptOf(graphModel) : text.trim();
}

const MAX_CLASSES = 60;
const MAX_FIELDS = 60;

const RULES = `Name things by the fullest name that the passage uses, and the same thing by the same name everywhere. Resolve pronouns and short names to what they mean. Write dates as YYYY, YYYY-MM or YYYY-MM-DD. Leave out what the passage does not say; never guess.`;

/** Describes a JSON schema in words, as an extraction prompt. */
function promptOf(model: JsonObject): string {
  const definitions = { ...recordOf(model['definitions']), ...recordOf(model['$defs']) };
  const title = textOf(model['title']) || 'the graph';
  const classes = [
    ...(Object.keys(recordOf(model['properties'])).length === 0 ? [] : [classText(title, model)]),
    ...Object.entries(definitions).map(([name, schema]) => classText(name, recordOf(schema))),
  ].slice(0, MAX_CLASSES);
  const what = classes.length === 0 ? '' : `\n\nExtract these kinds of things:\n${classes.join('\n')}`;
  return `Turn the passage into a knowledge graph that fits the model "${title}".${what}\n\n${RULES}`;
}

function classText(name: string, schema: JsonObject): string {
  const required = new Set(Array.isArray(schema['required']) ? schema['required'].map(String) : []);
  const fields = Object.entries(recordOf(schema['properties']))
    .slice(0, MAX_FIELDS)
    .map(([field, own]) => fieldText(field, recordOf(own), required.has(field)));
  const values = enumText(schema);
  const head = `- ${textOf(schema['title']) || name}${suffix(textOf(schema['description']))}${values}`;
  return [head, ...fields].join('\n');
}

function fieldText(name: string, schema: JsonObject, isRequired: boolean): string {
  const need = isRequired ? ', always' : '';
  const targets = [...new Set(targetsOf(schema))];
  const kind =
    targets.length > 0
      ? `relation from this to ${targets.join(' or ')}${schema['type'] === 'array' ? ', any number' : ''}`
      : textOf(schema['type']) || 'value';
  return `  - ${name} (${kind}${need})${suffix(textOf(schema['description']))}${enumText(schema)}`;
}

/** Returns the names of the definitions that a field refers to. */
function targetsOf(schema: JsonObject, depth = 0): readonly string[] {
  if (depth > 5) return [];
  const reference = /^#\/(?:\$defs|definitions)\/(.+)$/u.exec(textOf(schema['$ref']))?.[1];
  if (reference !== undefined) return [reference];
  const branches = ['anyOf', 'oneOf', 'allOf'].flatMap((key) => (Array.isArray(schema[key]) ? schema[key] : []));
  return [...branches, schema['items']].flatMap((one) => targetsOf(recordOf(one), depth + 1));
}

function enumText(schema: JsonObject): string {
  const values = schema['enum'];
  return Array.isArray(values) ? ` One of: ${values.slice(0, 50).map(String).join(', ')}.` : '';
}

function suffix(description: string): string {
  return description.trim() === '' ? '' : `: ${description.replaceAll(/\s+/gu, ' ').trim().slice(0, 500)}`;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function recordOf(value: unknown): JsonObject {
  return isRecord(value) ? (value as JsonObject) : {};
}
