/** Stored default of `system_prompt`. */
export const DEFAULT_SYSTEM_PROMPT =
  'Answer the question from the context alone, briefly and precisely. First find the words of the context that answer it. When the context does not hold the answer, say that memory does not hold it instead of guessing.';

export type PromptKind = 'plain' | 'graph' | 'sections';

const INTRODUCTION: Readonly<Record<PromptKind, string>> = {
  plain: 'Here is the context:',
  graph: 'Here is the context from a knowledge graph: first its nodes with their texts, then how they are connected.',
  sections: 'Here is the context in sections. Keep the answer brief and use nothing from outside the context.',
};

/** The user message of the answer call; also what `only_context` shows. */
export function userPrompt(kind: PromptKind, query: string, context: string): string {
  return `The question is: \`${query}\`\n${INTRODUCTION[kind]}\n\nContext:\n\`${context}\``;
}

/** What the user stated before, in the message of the answer call; '' for nothing. */
export function preferencesText(lines: string): string {
  if (lines === '') return '';
  const list = lines.split('\n').map((line) => `- ${line}`);
  return [
    '## Preferences of the user',
    'Stated earlier, the newest first; where two disagree the newer one wins.',
    ...list,
  ].join('\n');
}
