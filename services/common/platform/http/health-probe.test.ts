import { expect } from 'chai';
import { createProbe } from './health-probe.ts';

type Result = {
  readonly status: 'healthy' | 'degraded' | 'unhealthy';
  readonly provider: string;
  readonly details: string;
};
const FINE: Result = { status: 'healthy', provider: 'sqlite', details: 'Answers' };

describe('a check of health', () => {
  let nowMs: number;
  let begun: PromiseWithResolvers<Result>[];
  let read: ReturnType<typeof createProbe>;

  beforeEach(() => {
    nowMs = 0;
    begun = [];
    const check = () => {
      const gate = Promise.withResolvers<Result>();
      begun.push(gate);
      return gate.promise;
    };
    const times = { timeoutMs: 5, unknownMs: 5, staleMs: 10_000, now: () => nowMs };
    read = createProbe({ critical: true, check }, times);
  });

  const answered = async (result: Result | Error) => {
    const asked = read();
    if (result instanceof Error) begun.at(-1)?.reject(result);
    else begun.at(-1)?.resolve(result);
    return asked;
  };

  it('that does not end stands as it was a moment ago, with its age, and is not asked a second time meanwhile', async () => {
    await answered(FINE);
    nowMs = 3_000;
    expect(await read()).to.include({ status: 'healthy', provider: 'sqlite' });
    nowMs = 6_000;
    const late = await read();
    expect(late).to.include({
      status: 'healthy',
      details: 'Answers (6 s ago, the check goes on)',
      responseTimeMs: 3_000,
    });
    expect(begun).to.have.length(2);
    begun[1]?.resolve({ ...FINE, status: 'degraded' });
    await new Promise((resolve) => setImmediate(resolve));
    nowMs = 7_000;
    expect(await read()).to.include({ status: 'degraded', details: 'Answers (1 s ago, the check goes on)' });
  });

  it('that has not ended for long is unhealthy, and a new one is begun', async () => {
    await answered(FINE);
    nowMs = 1_000;
    await read();
    nowMs = 10_001;
    expect(await read()).to.include({ status: 'unhealthy', details: 'No answer within 9001 ms' });
    nowMs = 12_000;
    expect(await answered(FINE)).to.include({ status: 'healthy', details: 'Answers' });
    expect(begun).to.have.length(3);
  });

  it('that never ended before is unhealthy once it was waited for', async () => {
    expect(await read()).to.include({ status: 'unhealthy', provider: 'unknown' });
  });

  it('that fails is unhealthy at once, whatever it was', async () => {
    await answered(FINE);
    nowMs = 1_000;
    expect(await answered(new Error('refused'))).to.include({ status: 'unhealthy', details: 'refused' });
    nowMs = 2_000;
    expect(await read()).to.include({ status: 'unhealthy', details: 'refused (1 s ago, the check goes on)' });
  });
});
