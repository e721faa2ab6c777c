import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { makeDataDir, startProcess } from '../support/engram-process.ts';
import { describeWhenWhole } from '../support/extent.ts';

describeWhenWhole('a server whose log cannot be written', () => {
  const data = makeDataDir();
  after(() => data.remove());

  async function answersWith(standardOutput: number, between = () => {}): Promise<string> {
    await using server = await disposable(standardOutput);
    for (let request = 0; request < 260; request += 1) {
      if (request === 130) between();
      const answer = await fetch(`${server.baseUrl}/api/v1/datasets/`, { signal: AbortSignal.timeout(100_000) });
      expect(answer.status).to.equal(200);
      await answer.arrayBuffer();
    }
    const metrics = await (await fetch(`${server.baseUrl}/metrics`)).text();
    expect(await server.stop(), 'exit code').to.equal(0);
    return metrics;
  }

  async function disposable(standardOutput: number) {
    const server = await startProcess({
      dataDir: data.path,
      standardOutput,
      environment: { LOG_LEVEL: 'debug' },
    });
    return { ...server, [Symbol.asyncDispose]: () => server.kill() };
  }

  it('goes on when the reader of its log stalls and when it goes away', async () => {
    const pipe = join(data.path, 'log');
    execFileSync('mkfifo', [pipe]);
    const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
    const writer = openSync(pipe, constants.O_WRONLY);
    await answersWith(writer, () => closeSync(reader));
    closeSync(writer);
  });

  it('goes on when there is no space for its log', async () => {
    const full = openSync('/dev/full', 'w');
    expect(await answersWith(full)).to.match(/^engram_log_lines_dropped_total \d+$/m);
    closeSync(full);
  });
});
