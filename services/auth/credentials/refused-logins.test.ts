import { expect } from 'chai';
import type { AuditEntry } from '../../common/ports/audit-log.ts';
import { createRefusedLogins } from './refused-logins.ts';

describe('refused logins', () => {
  let entries: AuditEntry[];
  let faults: object[];
  let isAway: boolean;
  const start = (maxTracked?: number) => {
    entries = [];
    faults = [];
    isAway = false;
    const ignore = () => {};
    const error = (_event: string, fields?: object) => void faults.push(fields ?? {});
    return createRefusedLogins({
      audit: {
        async commit(_scope, _writes, added) {
          if (isAway) throw new Error('away');
          entries.push(...added);
          return [];
        },
      },
      logger: { debug: ignore, info: ignore, warn: ignore, error },
      ...(maxTracked === undefined ? {} : { maxTracked }),
    });
  };
  const shown = () => entries.map(({ subject, details }) => ({ subject, ...details }));
  const ADA = { account: 'ada@example.com', address: '192.0.2.1' };

  it('are recorded at once, and repetitions once a period with their number', async () => {
    const refused = start();
    for (let count = 0; count < 5; count += 1) await refused.refused({ ...ADA, account: 'ADA@example.com' }, 'ada');
    for (let count = 0; count < 700; count += 1) refused.throttled(ADA);
    expect(entries).to.deep.equal([
      {
        tenant: entries[0]?.tenant,
        action: 'session.refused',
        actor: null,
        subject: 'ada',
        details: { address: '192.0.2.1', attempts: 1 },
      },
    ]);
    await refused.record();
    expect(shown().slice(1)).to.deep.equal([{ subject: 'ada', address: '192.0.2.1', attempts: 4, throttled: 700 }]);
    await refused.record();
    expect(entries, 'nothing came since').to.have.length(2);
    await refused.refused(ADA, 'ada');
    expect(shown().at(-1)).to.deep.equal({ subject: 'ada', address: '192.0.2.1', attempts: 1 });
  });

  it('cannot fill the audit log, from any number of addresses and for any number of accounts', async () => {
    const refused = start(3);
    for (let count = 0; count < 1000; count += 1) {
      const login = { account: `user-${count}@example.com`, address: `address ${count}` };
      await refused.refused(login, login.account);
      refused.throttled({ account: `other-${count}@example.com`, address: `address ${count}` });
    }
    expect(entries).to.have.length(3);
    await refused.record();
    expect(shown().slice(3)).to.deep.equal([{ subject: '*', address: '*', attempts: 997, throttled: 1000 }]);
  });

  it('write their number to the log when the audit log is unavailable', async () => {
    const refused = start();
    await refused.refused(ADA, 'ada');
    refused.throttled(ADA);
    isAway = true;
    await refused.record();
    expect(faults).to.have.length(1);
    expect(faults[0]).to.include({ attempts: 1 });
  });
});
