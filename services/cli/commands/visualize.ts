import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { openInBrowser } from '../browser.ts';
import { type Command, isSet, stringOption } from '../command.ts';
import { print, printJson } from '../output.ts';
import { exitCodes, usageFailure } from '../terminal.ts';
import { findDataset } from '../wire.ts';

export const visualizeCommand: Command = {
  name: 'visualize',
  usage: '',
  summary: "Saves the page that draws a dataset's graph; it works offline.",
  options: {
    output: { type: 'string', short: 'o', value: 'FILE', meaning: 'default engram-<dataset>.html' },
    open: { type: 'boolean', meaning: 'show it in the browser' },
    full: { type: 'boolean', meaning: 'the whole graph instead of its centre' },
  },
  async run(call) {
    if (call.arguments.length > 0) throw usageFailure('visualize takes no arguments; name the dataset with --dataset');
    const dataset = await findDataset(call.api, call.dataset);
    const query = { dataset_id: dataset.id, ...(isSet(call.options, 'full') ? { full: 'true' } : {}) };
    const page = await call.api.text('GET', '/api/v1/visualize', { query });
    const file = resolve(
      stringOption(call.options, 'output') ?? `engram-${dataset.name.replaceAll(/[^\w.-]+/g, '_')}.html`,
    );
    await writeFile(file, page);
    if (isSet(call.options, 'open')) openInBrowser(file);
    if (call.asJson) printJson(call, { dataset_id: dataset.id, file });
    else print(call, file);
    return exitCodes.ok;
  },
};
