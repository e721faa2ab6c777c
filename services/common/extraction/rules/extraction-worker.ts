import { parentPort } from 'node:worker_threads';
import type { ExtractionInput } from '../../ports/extractor.ts';
import { extractByRules } from './extract-by-rules.ts';
import type { WorkerReply } from './extraction-pool.ts';
import { createTagger } from './tagger.ts';

const tag = createTagger();
// The thread was started for work: what that needs is loaded before it comes.
tag('');
const port = parentPort;
port?.on('message', (input: ExtractionInput) => {
  let reply: WorkerReply;
  try {
    reply = { extraction: extractByRules(input, tag) };
  } catch (error) {
    reply = { error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
  port.postMessage(reply);
});
