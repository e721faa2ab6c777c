import { openAsBlob } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import type { PipelineRunInfo } from '../../client/index.ts';
import { ApiFailure } from '../api-client.ts';
import { type Command, type CommandCall, isSet, stringList } from '../command.ts';
import { count, note, print, printJson } from '../output.ts';
import { CliFailure, exitCodes, usageFailure } from '../terminal.ts';
import { datasetFields } from '../wire.ts';

export const addCommand: Command = {
  name: 'add',
  usage: '<file | URL | text | ->...',
  summary: 'Adds files, web pages or text to a dataset.',
  details:
    'An argument that names a file is uploaded, an http address is fetched by the server, "-" is read from standard input, and\nanything else is text.',
  options: {
    text: { type: 'boolean', meaning: 'take every argument as text, even if it names a file' },
    'node-set': { type: 'string', multiple: true, value: 'TAG', meaning: 'tag for the items, can be repeated' },
  },
  async run(call) {
    if (call.arguments.length === 0) throw usageFailure('Nothing to add. See: engram add --help');
    const { files, strings } = await sortInputs(call);
    const sent: Promise<Sent>[] = [];
    if (files.length > 0) sent.push(orFailure(uploadFiles(call, files)));
    if (strings.length > 0) sent.push(orFailure(sendStrings(call, strings)));
    const outcomes = await Promise.all(sent);
    const answers = outcomes.flatMap((outcome) => ('answer' in outcome ? [outcome.answer] : []));
    const failures = outcomes.flatMap((outcome) => ('failure' in outcome ? [outcome.failure] : []));
    if (answers.length === 0 && failures[0] !== undefined) throw failures[0];
    report(call, answers);
    for (const { message } of failures) note(call, message);
    const isComplete = failures.length === 0 && answers.every(({ refused = [] }) => refused.length === 0);
    return isComplete ? exitCodes.ok : exitCodes.failed;
  },
};

type Sent = { readonly answer: PipelineRunInfo } | { readonly failure: ApiFailure };

/** Files that are all refused do not stop the texts beside them. */
async function orFailure(request: Promise<PipelineRunInfo>): Promise<Sent> {
  try {
    return { answer: await request };
  } catch (failure) {
    if (failure instanceof ApiFailure) return { failure };
    throw failure;
  }
}

/** The arguments by what they are: paths of files, and texts or addresses. */
export async function sortInputs(call: CommandCall): Promise<{ files: string[]; strings: string[] }> {
  const files: string[] = [];
  const strings: string[] = [];
  for (const argument of call.arguments) {
    if (argument.trim() === '') throw usageFailure('An argument is empty: name a file, an address or a text.');
    if (isSet(call.options, 'text')) strings.push(argument);
    else if (argument === '-') strings.push(await readText(call.terminal.input));
    else if (/^https?:\/\/\S+$/i.test(argument)) strings.push(argument);
    else if (await isFile(argument)) files.push(argument);
    else if (looksLikePath(argument))
      throw new CliFailure(`There is no file ${argument}. To add it as text, give --text.`, exitCodes.usage);
    else strings.push(argument);
  }
  return { files, strings };
}

async function isFile(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null);
  if (found?.isDirectory() === true) throw usageFailure(`${path} is a folder: use engram import ${path}`);
  return found?.isFile() === true;
}

/** A mistyped path must not become a memory. */
function looksLikePath(argument: string): boolean {
  return (
    !/\s/.test(argument) &&
    (/^(\.{0,2}[\\/]|~\/|[a-z]:\\)/i.test(argument) ||
      /[\w-]\.(txt|md|pdf|docx|pptx|xlsx|odt|epub|html?|csv|json|xml|py|[jt]sx?)$/i.test(argument))
  );
}

/** Files and texts for the dataset of a command, with its tags. */
export async function formOf(
  call: CommandCall,
  paths: readonly string[],
  strings: readonly string[] = [],
): Promise<FormData> {
  const form = new FormData();
  for (const path of paths) form.append('data', await openAsBlob(path), basename(path));
  for (const text of strings) form.append('data', text);
  for (const [name, value] of Object.entries(datasetFields(call.dataset))) form.append(name, value);
  for (const tag of stringList(call.options, 'node-set')) form.append('node_set', tag);
  return form;
}

async function uploadFiles(call: CommandCall, paths: readonly string[]): Promise<PipelineRunInfo> {
  return call.api.json<PipelineRunInfo>('POST', '/api/v1/add', { body: await formOf(call, paths) });
}

async function sendStrings(call: CommandCall, strings: readonly string[]): Promise<PipelineRunInfo> {
  const tags = stringList(call.options, 'node-set');
  const body = { data: strings, ...datasetFields(call.dataset), ...(tags.length === 0 ? {} : { node_set: tags }) };
  return call.api.json<PipelineRunInfo>('POST', '/api/v1/add', { body });
}

function report(call: CommandCall, answers: readonly PipelineRunInfo[]): void {
  if (call.asJson) {
    printJson(call, answers.length === 1 ? answers[0] : answers);
    return;
  }
  const items = answers.flatMap((answer) => answer.data_ingestion_info ?? []);
  const known = items.filter(({ run_info }) => run_info.status === 'PipelineRunAlreadyCompleted').length;
  const refused = answers.flatMap((answer) => answer.refused ?? []);
  const parts = [`${count(items.length - known, 'item')} added to ${answers[0]?.dataset_name ?? call.dataset}`];
  if (known > 0) parts.push(`${count(known, 'item')} already there`);
  if (refused.length > 0) parts.push(`${refused.length} refused`);
  print(call, parts.join(', '));
  for (const { name, message } of refused) {
    const isNamed = name === null || message.includes(name);
    note(call, `refused: ${isNamed ? '' : `${name}: `}${message}`);
  }
  for (const { data_id } of items) if (data_id !== undefined) print(call, data_id);
}
