import type { JsonObject } from '../../common/kernel/json.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import type { Extraction, Extractor } from '../../common/ports/extractor.ts';
import type { LanguageModel } from '../../common/ports/models.ts';
import { FENCE_RULE, fenced } from '../../common/text/fenced.ts';
import { currentModels, type LlmCaller, type LlmDependencies, modelContext } from './dependencies.ts';
import { type GraphOutline, graphSchemaOf, OUTLINE_SCHEMA, type OutlineClass, readOutline } from './graph-outline.ts';
import { piecesOf, sampleText } from './sample-text.ts';

const SYSTEM = `You design the model of a knowledge graph for texts of the kind you are shown: the kinds of things they are about, what is told of each kind, and how the kinds relate. Classes are general (Person, Company), never single things; relations lead from one class to another and are verb phrases. At most twelve classes. ${FENCE_RULE}`;

/** A graph model for texts like this one: by the model when there is one, else from what the rules find in it. */
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

/** A text of which the rules know no kinds. */
const FALLBACK: OutlineClass = { name: 'Concept', description: 'What the text is about', fields: [], relations: [] };
const MAX_CLASSES = 12;
const MAX_RELATIONS = 12;
const MAX_EXAMPLES = 3;

/** The kinds of the things that are named, and the relations that are stated between kinds, most frequent first. */
function classesOf(extractions: readonly Extraction[]): readonly OutlineClass[] {
  const entities = extractions.flatMap((one) => one.entities).filter(({ isKeyword }) => isKeyword !== true);
  const typeOf = new Map(entities.map(({ name, type }) => [name, type]));
  const kinds = [...Map.groupBy(entities, ({ type }) => type)]
    .toSorted((a, b) => b[1].length - a[1].length)
    .slice(0, MAX_CLASSES);
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
    const relations = [...counts.values()].toSorted((a, b) => b.count - a.count).slice(0, MAX_RELATIONS);
    return { name, description: `For example ${examples.join(', ')}`, fields: [], relations };
  });
}
