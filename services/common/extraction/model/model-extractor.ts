import { nodeName } from '../../domain/ids.ts';
import { sentences } from '../../language/sentences.ts';
import type {
  ExtractedEntity,
  ExtractedRelation,
  ExtractedSentence,
  Extraction,
  ExtractionInput,
  Extractor,
} from '../../ports/extractor.ts';
import type { LanguageModel } from '../../ports/models.ts';
import { graphOfInstance } from './custom-graph.ts';
import { customSchema, GRAPH_SCHEMA, instructionOf, PROMPT_VERSION, passageOf } from './extraction-prompt.ts';

interface ModelNode {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly description: string;
}

interface ModelGraph {
  readonly nodes: readonly ModelNode[];
  readonly edges: readonly {
    readonly source_node_id: string;
    readonly target_node_id: string;
    readonly relationship_name: string;
    readonly description: string;
  }[];
}

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
      const answer = value as { readonly summary: string; readonly graph?: unknown } & ModelGraph;
      const graph =
        custom === undefined
          ? graphOfAnswer(answer)
          : graphOfInstance(answer.graph, String(custom['title'] ?? 'Entity'));
      return extractionOf(input, graph, { summary: answer.summary.trim(), usage });
    },
  };
}

function extractionOf(
  input: ExtractionInput,
  graph: { readonly entities: readonly ExtractedEntity[]; readonly relations: readonly ExtractedRelation[] },
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

/** Edges to nodes the answer does not hold are dropped; of two nodes with one name the first stays. */
function graphOfAnswer({ nodes, edges }: ModelGraph): { entities: ExtractedEntity[]; relations: ExtractedRelation[] } {
  const nameById = new Map<string, string>();
  const entities = new Map<string, ExtractedEntity>();
  for (const node of nodes) {
    const name = (node.name || node.id).trim();
    if (name === '') continue;
    nameById.set(node.id, name);
    if (!entities.has(nodeName(name))) {
      entities.set(nodeName(name), {
        name,
        type: node.type.trim() || 'Concept',
        description: node.description.trim(),
        aliases: [],
        mentions: 1,
      });
    }
  }
  const relations = edges.flatMap((edge) => {
    const source = nameById.get(edge.source_node_id);
    const target = nameById.get(edge.target_node_id);
    const relation = edge.relationship_name
      .trim()
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}]+/gu, '_')
      .replaceAll(/^_+|_+$/g, '');
    if (source === undefined || target === undefined || source === target || relation === '') return [];
    return [{ source, target, relation, evidence: edge.description.trim() }];
  });
  return { entities: [...entities.values()], relations };
}

function sentencesWithMentions(text: string, entities: readonly ExtractedEntity[]): readonly ExtractedSentence[] {
  const names = entities.map(({ name }) => ({ name, key: nodeName(name) }));
  return sentences(text).map((sentence) => {
    const key = nodeName(sentence.text);
    return {
      text: sentence.text,
      start: sentence.start,
      entities: names.filter((entry) => key.includes(entry.key)).map(({ name }) => name),
    };
  });
}

/** The sentence that names both ends stands in the text; the model's own wording is the fallback. */
function evidenceOf({ source, target, evidence }: ExtractedRelation, found: readonly ExtractedSentence[]): string {
  return found.find(({ entities }) => entities.includes(source) && entities.includes(target))?.text ?? evidence;
}

function schemaName(title: unknown): string {
  const name = String(title ?? '')
    .replaceAll(/[^A-Za-z0-9_-]/g, '_')
    .slice(0, 60);
  return name === '' ? 'Graph' : name;
}
