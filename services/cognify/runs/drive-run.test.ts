import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { until } from '../../../test/support/until.ts';
import { asId } from '../../common/kernel/ids.ts';
import { keepTenantAwakeWhile } from './drive-run.ts';

describe('a tenant that a run works in', () => {
  it('is reported as in use until the run ends, also after a failed report', async () => {
    const asked: unknown[] = [];
    const warned: string[] = [];
    const messenger = {
      async call(method: unknown, request: unknown) {
        expect(method).to.equal('auth.GetPrincipal');
        asked.push(request);
        if (asked.length === 1) throw new Error('away');
        return {} as never;
      },
    };
    const logger = { warn: (message: string) => void warned.push(message) };
    const principal = { id: asId<never>('ada'), tenant: asId<never>('acme') };
    const result = await keepTenantAwakeWhile(
      { messenger, logger },
      { principal, requestId: 'run' },
      async () => {
        await until('it was said twice', async () => asked.length >= 2);
        return 'done';
      },
      1,
    );
    expect(result).to.equal('done');
    expect(asked[0]).to.deep.equal({ userId: 'ada', tenant: 'acme' });
    expect(warned).to.deep.equal(['run.keepalive.failed']);
    const { length } = asked;
    await sleep(20);
    expect(asked).to.have.length(length);
  });
});
