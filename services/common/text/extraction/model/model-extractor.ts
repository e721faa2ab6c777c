import { nodeName } from '../../../kernel/ids.ts';
import type {
  ExtractedEntity,
  ExtractedRelation,
  ExtractedSentence,
  Extraction,
  ExtractionInput,
  Extractor,
} from '../../../ports/extractor.ts';
import type { LanguageModel } from '../../../ports/models.ts';
import { sentences } from '../../language/sentences.ts';
import { graphOfInstance } from './custom-graph.ts';
import { customSchema, GRAPH_SCHEMA, instructionOf, PROMPT_VERSION, passageOf } from './extraction-prompt.ts';
import { type ModelGraph, readKnowledgeGraph } from './knowledge-graph.ts';

/** One structured call per chunk gives entities, relations and summary together; sentences are found by rules. */
export function createModelExtractor(options: { readonly model: LanguageModel }): Extractor {
  const { model } = options;
  return {
    version: `model/${model.name}/${PROMPT_VERSION}`,
    async extract(input, context) {
      const custom = input.graphModel;
      const { value, usage } = await model.structured(
        {
          system: instructionOf(input),
          prompt: passageOf(input),
          schema: custom === undefined ? GRAPH_SCHEMA : customSchema(custom),
          schemaName: custom === undefined ? 'KnowledgeGraph' : schemaName(custom['title']),
        },
        context,
      );
      const answer = value as { readonly summary: string; readonly graph?: unknown };
      const graph =
        custom === undefined
          ? readKnowledgeGraph(answer as unknown as Parameters<typeof readKnowledgeGraph>[0])
          : graphOfInstance(answer.graph, custom);
      return extractionOf(input, graph, { summary: answer.summary.toWellFormed().trim(), usage });
    },
  };
}

function extractionOf(
  input: ExtractionInput,
  graph: ModelGraph,
  rest: Pick<Extraction, 'summary' | 'usage'>,
): Extraction {
  const found = sentencesWithMentions(input.text, graph.entities);
  const relations = graph.relations.map((relation) => ({ ...relation, evidence: evidenceOf(relation, found) }));
  const entities = graph.entities.map((entity) => ({
    ...entity,
    mentions: Math.max(1, found.filter((sentence) => sentence.entities.includes(entity.name)).length),
  }));
  return { entities, relations, sentences: found, ...rest };
}

function sentencesWithMentions(text: string, entities: readonly ExtractedEntity[]): readonly ExtractedSentence[] {
  const names = entities.map(({ name }) => ({ name, key: nodeName(name) }));
  return sentences(text).map((sentence) => {
    const key = nodeName(sentence.text);
    return {
      text: sentence.text,
      start: sentence.start,
      entities: names.filter((entry) => holdsName(key, entry.key)).map(({ name }) => name),
    };
  });
}

/** Finds names as whole words: `Al` is not in `also`. */
function holdsName(sentence: string, name: string): boolean {
  for (let at = sentence.indexOf(name); at >= 0; at = sentence.indexOf(name, at + 1)) {
    const before = sentence.slice(0, at);
    if (!ENDS_IN_WORD.test(before) && !BEGINS_WITH_WORD.test(sentence.slice(at + name.length))) return true;
  }
  return false;
}

const ENDS_IN_WORD = /[\p{L}\p{N}]$/u;
const BEGINS_WITH_WORD = /^[\p{L}\p{N}]/u;

/** Returns the sentence of the text that names both ends, else the model's own wording. */
function evidenceOf({ source, target, evidence }: ExtractedRelation, found: readonly ExtractedSentence[]): string {
  return found.find(({ entities }) => entities.includes(source) && entities.includes(target))?.text ?? evidence;
}

function schemaName(title: unknown): string {
  const name = String(title ?? '')
    .replaceAll(/[^A-Za-z0-9_-]/g, '_')
    .slice(0, 60);
  return name === '' ? 'Graph' : name;
}
