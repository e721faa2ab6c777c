import type { JsonObject } from '../../../kernel/json.ts';
import type { ExtractionInput } from '../../../ports/extractor.ts';
import { askedModel } from './graph-model.ts';

/** Grows when the instruction or the schema changes, so that cached answers of the old one are not used. */
export const PROMPT_VERSION = 'v2';

const DEFAULT_INSTRUCTION = `You turn a passage into a small knowledge graph and a summary.
Nodes: the people, places, organisations, works, events, dates, quantities and concepts the passage is about. Give every node the fullest name that the passage or the known names use, a readable id made from that name, a simple type (Person, Place, Organisation, Event, Work, Concept, Timestamp …) and one sentence that says what the passage tells of it. Write dates as nodes of type Timestamp named YYYY, YYYY-MM or YYYY-MM-DD.
Edges: what the passage states about two of these nodes, as a snake_case verb phrase, with one factual sentence that names both ends.
Resolve pronouns and short names to the node they mean. Put in nothing that the passage does not say.
Summary: at most three sentences with the facts of the passage.`;

export function instructionOf(input: ExtractionInput): string {
  return input.customPrompt?.trim() ? input.customPrompt : DEFAULT_INSTRUCTION;
}

/** Contains only the text of the document: with its name, equal texts in two files would be two different calls. */
export function passageOf({ text, title, headings, knownNames }: ExtractionInput): string {
  const known = knownNames.slice(0, 60).map(({ name, type }) => `${name} (${type})`);
  const parts = [
    title === undefined ? '' : `Document: ${title}`,
    headings.length === 0 ? '' : `Section: ${headings.join(' > ')}`,
    known.length === 0 ? '' : `Known names of this document: ${known.join(', ')}`,
    `Text:\n"""\n${text.trimEnd()}\n"""`,
  ];
  return parts.filter((part) => part !== '').join('\n');
}

const string: JsonObject = { type: 'string' };

function strictObject(properties: JsonObject): JsonObject {
  return { type: 'object', additionalProperties: false, required: Object.keys(properties), properties };
}

/** Strict in the sense of OpenAI: every property required, nothing else allowed. */
export const GRAPH_SCHEMA: JsonObject = strictObject({
  summary: string,
  nodes: { type: 'array', items: strictObject({ id: string, name: string, type: string, description: string }) },
  edges: {
    type: 'array',
    items: strictObject({
      source_node_id: string,
      target_node_id: string,
      relationship_name: string,
      description: string,
    }),
  },
});

/**
 * The summary beside an instance of the caller's own model; its definitions move to the root, where `$ref` finds them,
 * and a reference to the root itself becomes one to the model.
 */
export function customSchema(graphModel: JsonObject): JsonObject {
  const { $defs, definitions, ...model } = askedModel(graphModel);
  const isRecursive =
    JSON.stringify(model).includes('"$ref":"#"') || JSON.stringify($defs ?? {}).includes('"$ref":"#"');
  if (!isRecursive) {
    return {
      ...strictObject({ summary: string, graph: model }),
      ...($defs === undefined ? {} : { $defs }),
      ...(definitions === undefined ? {} : { definitions }),
    };
  }
  const named = { ...($defs as JsonObject | undefined), GraphRoot: model };
  const schema = {
    ...strictObject({ summary: string, graph: { $ref: '#/$defs/GraphRoot' } }),
    $defs: named,
    ...(definitions === undefined ? {} : { definitions }),
  };
  return JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#"', '"$ref":"#/$defs/GraphRoot"')) as JsonObject;
}
