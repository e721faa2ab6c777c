/** Extraction options of a request or of a dataset's configuration. */
interface ModelOptions {
  readonly graphModel?: object | null | undefined;
  readonly customPrompt?: string | null | undefined;
}

/** Warning about options that need a language model where none is configured; null when there are none. */
export function unusedModelOptions(
  { graphModel, customPrompt }: ModelOptions,
  hasLanguageModel: boolean,
): string | null {
  if (hasLanguageModel) return null;
  const unused = [...(graphModel ? ['graph_model'] : []), ...(customPrompt ? ['custom_prompt'] : [])];
  if (unused.length === 0) return null;
  const verb = unused.length === 1 ? 'has' : 'have';
  return `${unused.join(' and ')} ${verb} no effect: no language model is configured, so the graph is built by rules. Configure a language model, forget the memory of the data (memory_only) and cognify it again.`;
}
