/** What a request or a dataset's configuration asks of extraction. */
export interface ModelOptions {
  readonly graphModel?: object | null | undefined;
  readonly customPrompt?: string | null | undefined;
}

/** What is said of options that only a language model can follow, where none is configured; null when there are none. */
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
