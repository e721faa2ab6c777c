import type { JsonObject } from '../../common/kernel/json.ts';
import type { LanguageModel, ModelCallContext } from '../../common/ports/models.ts';
import type { GraphVocabulary } from './graph-vocabulary.ts';

export interface FailedAttempt {
  readonly cypher: string;
  readonly problem: string;
}

const SYSTEM_PROMPT = `You translate a question into one Cypher query over a knowledge graph.
- Only MATCH, OPTIONAL MATCH, WHERE, UNWIND, WITH, UNION, RETURN, ORDER BY, SKIP and LIMIT are understood: no CALL, no procedures, no parameters, nothing that writes. Each value in WITH needs a name (AS).
- Use only the labels, relationship types and properties listed, in backticks where they are listed so.
- Compare names without regard to case: toLower(n.name) CONTAINS 'oslo'. Leave the direction of a relationship open when it is not certain.
- What a text says about an entity stands in its description and in the text of the DocumentChunk that contains it.
- Return the values that answer the question rather than whole nodes, and at most 100 rows.`;

/** Of a failed query that is shown again; a model at a loss writes without end. */
const MAX_SHOWN_LENGTH = 4000;

const SCHEMA: JsonObject = {
  type: 'object',
  properties: { cypher: { type: 'string', description: 'The query, without explanation' } },
  required: ['cypher'],
  additionalProperties: false,
};

/** One model call. What comes back is as little to be trusted as a client's query. */
export async function writeQuery(
  model: LanguageModel,
  asked: {
    readonly question: string;
    readonly vocabulary: GraphVocabulary;
    readonly failed: readonly FailedAttempt[];
  },
  context: ModelCallContext,
): Promise<string> {
  const { question, vocabulary, failed } = asked;
  const parts = [describe(vocabulary), `Question: ${question}`, ...failed.map(describeFailure)];
  const call = { system: SYSTEM_PROMPT, prompt: parts.join('\n\n'), schema: SCHEMA, schemaName: 'CypherQuery' };
  const { value } = await model.structured(call, context);
  return withoutFence(String((value as JsonObject)['cypher'] ?? ''));
}

function describe({ labels, relations, entityTypes }: GraphVocabulary): string {
  const end = (label: string) => (label === '' ? '()' : `(:${quoted(label)})`);
  const lines = [
    'Labels of nodes and their properties:',
    ...labels.map(({ label, properties }) => `- ${quoted(label)}: ${properties.map(quoted).join(', ')}`),
    'Relationship types (their name is also in the property relationship_name):',
    ...relations.map(({ source, relation, target }) => `- ${end(source)}-[:${quoted(relation)}]->${end(target)}`),
  ];
  if (entityTypes.length > 0) lines.push(`Names of EntityType nodes: ${entityTypes.join(', ')}`);
  return lines.join('\n');
}

function quoted(name: string): string {
  return /^\w+$/u.test(name) ? name : `\`${name}\``;
}

function describeFailure({ cypher, problem }: FailedAttempt, index: number): string {
  return `Attempt ${index + 1} failed; write another query.\nQuery: ${cypher.slice(0, MAX_SHOWN_LENGTH)}\nProblem: ${problem}`;
}

/** Models wrap code in Markdown even where it is the only thing asked for. */
function withoutFence(text: string): string {
  return (/^\s*```(?:\w+\n|\s)?([\s\S]*?)```\s*$/u.exec(text)?.[1] ?? text).trim();
}
