import type { JsonObject } from '../../common/kernel/json.ts';
import { FENCE_RULE, fenced } from '../../common/text/fenced.ts';
import { currentModels, type LlmCaller, type LlmDependencies, modelContext } from './dependencies.ts';
import { promptOf } from './prompt-of-schema.ts';

const SYSTEM = `You write the instruction with which a language model extracts a knowledge graph from passages of text. It must fit the JSON schema you are shown: say for each class what counts as one, how its fields are filled, which relations are allowed and in which direction, how things are named and identified, and that nothing is put in that the passage does not say. Answer with the instruction alone. ${FENCE_RULE}`;
const MAX_SCHEMA_LENGTH = 60_000;

/** An extraction prompt for a graph model: written by the model when there is one, else put together from the schema. */
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
