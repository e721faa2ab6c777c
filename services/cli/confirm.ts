import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { type CommandCall, isSet } from './command.ts';
import { usageFailure } from './terminal.ts';

/** Asks a person, unless `--yes` is given; a script without it is refused. */
export async function confirmed(call: CommandCall, question: string): Promise<boolean> {
  if (isSet(call.options, 'yes')) return true;
  if (!call.terminal.isInteractive) throw usageFailure(`${question} No terminal to confirm on: give --yes.`);
  return /^y(es)?$/i.test(await ask(call, `${question} This cannot be undone. [y/N] `));
}

/** One line of a person, '' for Ctrl-C and the end of the input. A secret is not shown while it is typed. */
export async function ask(call: CommandCall, question: string, { isSecret = false } = {}): Promise<string> {
  const { input, err } = call.terminal;
  if (isSecret) err.write(question);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const prompt = createInterface({ input, output: isSecret ? silent : err, terminal: call.terminal.isInteractive });
  // Ctrl-C, which the prompt keeps to itself, and the end of the input are no answer.
  const closed = new Promise<string>((resolve) => {
    prompt.once('SIGINT', () => prompt.close());
    prompt.once('close', () => resolve(''));
  });
  try {
    return (await Promise.race([prompt.question(isSecret ? '' : question), closed])).trim();
  } finally {
    prompt.close();
    if (isSecret) err.write('\n');
  }
}

/** Returns a password from a variable of the environment, or asks a person for it: other programs can see the command line. */
export async function askPassword(call: CommandCall, variable: string): Promise<string> {
  const given = call.terminal.environment[variable] ?? '';
  if (given !== '') return given;
  if (!call.terminal.isInteractive) throw usageFailure(`No terminal to ask for the password on: set ${variable}.`);
  const password = await ask(call, 'Password: ', { isSecret: true });
  if (password === '') throw usageFailure('A password is needed.');
  return password;
}
