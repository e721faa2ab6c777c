import { ErrorCode, type GetPromptResult, McpError, type Prompt } from '@modelcontextprotocol/sdk/types.js';

interface PromptDefinition extends Prompt {
  readonly arguments: { readonly name: string; readonly description: string; readonly required: boolean }[];
  /** Text for the model. Only required arguments are sure to be given. */
  text(given: Readonly<Record<string, string>>): string;
}

const dataset = { name: 'dataset', description: 'Dataset, by name', required: false };

const PROMPTS: readonly PromptDefinition[] = [
  {
    name: 'answer_from_memory',
    title: 'Answer from memory',
    description: 'Answer a question from what is stored, with sources, and say so when memory does not know.',
    arguments: [{ name: 'question', description: 'The question', required: true }, dataset],
    text: ({ question, dataset: name }) =>
      `Answer this question from memory: ${question}

Call the tool ask${inDataset(name)}. If it answers, give the answer in your own words and name the documents it rests on. If it does not, try recall with other words once. If that finds nothing either, say that memory does not know; do not answer from general knowledge.`,
  },
  {
    name: 'remember_conversation',
    title: 'Remember this conversation',
    description: 'Store what is worth keeping of the conversation so far.',
    arguments: [dataset],
    text: ({ dataset: name }) =>
      `Store what is worth keeping of our conversation with the tool remember${inDataset(name, 'dataset_name')}: decisions, facts about people and projects, preferences, open tasks. Write one self-contained sentence for each, with names and absolute dates in place of "he", "it" and "today". Leave out small talk and secrets such as passwords and keys. Show me what you stored.`,
  },
  {
    name: 'explore_dataset',
    title: 'Explore a dataset',
    description: 'Give an overview of what a dataset holds.',
    arguments: [{ ...dataset, required: true }],
    text: ({ dataset: name }) =>
      `Give me an overview of the dataset "${name}". Find it with list_data, look through its items, and search it for its main people, organisations, places and events. Write half a page: what it is about, the main topics with the documents they are in, and five questions it can answer.`,
  },
];

function inDataset(name: string | undefined, argument = 'datasets'): string {
  return name === undefined || name.trim() === '' ? '' : ` with ${argument} "${name}"`;
}

export function listPrompts(): Prompt[] {
  return PROMPTS.map(({ text, ...listed }) => listed);
}

export function getPrompt(name: string, given: Readonly<Record<string, string>> = {}): GetPromptResult {
  const prompt = PROMPTS.find((each) => each.name === name);
  if (prompt === undefined) throw new McpError(ErrorCode.InvalidParams, `There is no prompt "${name}".`);
  const missing = prompt.arguments.filter((each) => each.required && (given[each.name] ?? '').trim() === '');
  if (missing.length > 0) {
    const names = missing.map((each) => each.name).join(', ');
    throw new McpError(ErrorCode.InvalidParams, `The prompt "${name}" needs the argument ${names}.`);
  }
  const text = prompt.text(given);
  const { description } = prompt;
  return {
    ...(description === undefined ? {} : { description }),
    messages: [{ role: 'user', content: { type: 'text', text } }],
  };
}
