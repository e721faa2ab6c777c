#!/usr/bin/env node
import { runCli } from './cli.ts';

// npm runs its scripts in the folder of the package; paths are meant from where the person stands.
const { npm_lifecycle_event: script, INIT_CWD: startedIn } = process.env;
if (script === 'engram' && startedIn !== undefined) process.chdir(startedIn);

// A reader that has seen enough (`| head`) is no error.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit();
  });
}

const listeners = new Set<() => void>();
for (const [signal, exitCode] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  process.on(signal, () => {
    for (const listener of listeners) listener();
    process.exit(exitCode);
  });
}

process.exitCode = await runCli(process.argv.slice(2), {
  out: process.stdout,
  err: process.stderr,
  input: process.stdin,
  environment: process.env,
  isInteractive: process.stdin.isTTY === true && process.stderr.isTTY === true,
  onInterrupt(listener) {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
});
