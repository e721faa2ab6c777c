import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, mkdtempSync, openSync, readFileSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { until } from '../../../../test/support/until.ts';
import { createLogOutput } from './log-output.ts';

const WRITER = fileURLToPath(new URL('./testing/write-log.ts', import.meta.url));
const LINE = `${'x'.repeat(999)}\n`;

describe('createLogOutput', () => {
  const directory = mkdtempSync(join(tmpdir(), 'engram-log-'));
  after(() => rmSync(directory, { recursive: true, force: true }));

  it('goes on while the reader of a pipe stalls, drops what does not fit and tells how much once it is read', async () => {
    const pipe = join(directory, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
    const writer = openSync(pipe, constants.O_WRONLY);
    const output = createLogOutput({ fd: writer, maxWaitingBytes: 10 * LINE.length });
    let lost = 0;
    output.onRecovered((lines) => {
      lost = lines;
    });
    for (let line = 0; line < 1000; line += 1) output.write(LINE);
    const dropped = output.droppedLines();
    expect(dropped).to.be.within(1, 999);
    let received = '';
    await until('it says what was lost', () => {
      received += readAll(reader);
      return lost > 0;
    });
    received += readAll(reader);
    expect(lost).to.equal(dropped);
    expect(received).to.equal(LINE.repeat(1000 - dropped));
    closeSync(reader);
    for (let line = 0; line < 20; line += 1) output.write(LINE);
    expect(output.droppedLines(), 'a closed pipe').to.equal(dropped + 10);
    closeSync(writer);
  });

  it('survives an output without space', () => {
    const full = openSync('/dev/full', 'w');
    const output = createLogOutput({ fd: full, maxWaitingBytes: 2 * LINE.length });
    for (let line = 0; line < 5; line += 1) output.write(LINE);
    expect(output.droppedLines()).to.equal(3);
  });

  for (const ending of ['exit', 'crash']) {
    it(`writes the last lines before the process ends by ${ending}, to a file and to a pipe`, async () => {
      const file = join(directory, `${ending}.log`);
      const descriptor = openSync(file, 'w');
      await once(spawn(process.execPath, [WRITER, ending], { stdio: ['ignore', descriptor, 'ignore'] }), 'exit');
      closeSync(descriptor);
      const child = spawn(process.execPath, [WRITER, ending], { stdio: ['ignore', 'pipe', 'ignore'] });
      const pieces: Buffer[] = [];
      child.stdout.on('data', (piece: Buffer) => pieces.push(piece));
      await once(child, 'close');
      for (const written of [readFileSync(file, 'utf8'), Buffer.concat(pieces).toString()]) {
        const events = written
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line).count);
        expect(events.toSorted((a, b) => a - b)).to.deep.equal(Array.from({ length: 2000 }, (_, count) => count));
      }
    });
  }
});

function readAll(descriptor: number): string {
  const buffer = Buffer.alloc(1024 * 1024);
  try {
    return buffer.toString('latin1', 0, readSync(descriptor, buffer));
  } catch {
    return '';
  }
}
