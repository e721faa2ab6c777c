import { expect } from 'chai';
import { until } from '../../../test/support/until.ts';
import { MailRefusedError } from '../../common/ports/mailer.ts';
import { createOutbox, type MailTask, type Outbox } from './outbox.ts';

const passing = new Error('the server is away');

describe('outbox', () => {
  let warnings: { event: string; fields: Readonly<Record<string, unknown>> | undefined }[];
  let outbox: Outbox;
  beforeEach(() => {
    warnings = [];
  });
  afterEach(() => outbox.stop());

  const create = (options: Partial<Parameters<typeof createOutbox>[0]> = {}) => {
    const ignore = () => {};
    const warn = (event: string, fields?: Readonly<Record<string, unknown>>) => warnings.push({ event, fields });
    const logger = { debug: ignore, info: ignore, error: ignore, warn };
    outbox = createOutbox({ logger, retryDelaysMs: [5, 5], ...options });
  };
  const never: MailTask = (signal) =>
    new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(new Error('aborted')));
    });

  it("does not begin in its caller's turn", async () => {
    create();
    let began = false;
    outbox.add(async () => {
      began = true;
    });
    await Promise.resolve();
    expect(began).to.equal(false);
    await until('the task begins', () => began);
  });

  it('retries transient failures only', async () => {
    create();
    const attempts = { passing: 0, refused: 0 };
    outbox.add(async () => {
      attempts.passing += 1;
      if (attempts.passing < 3) throw passing;
    });
    outbox.add(async () => {
      attempts.refused += 1;
      throw new MailRefusedError('no');
    });
    await until('a third attempt', () => attempts.passing === 3);
    expect(attempts.refused).to.equal(1);
    expect(warnings.map(({ event }) => event)).to.deep.equal(['auth.mail.given_up']);
  });

  it('gives up after the last delay', async () => {
    create();
    let attempts = 0;
    outbox.add(async () => {
      attempts += 1;
      throw passing;
    });
    await until('a warning', () => warnings.length > 0);
    expect(attempts).to.equal(3);
    expect(warnings[0]?.fields).to.include({ attempts: 3 });
  });

  it('does not delay other mails while one waits for its next attempt', async () => {
    create({ concurrency: 1, retryDelaysMs: [60_000] });
    let failed = false;
    let sent = false;
    outbox.add(async () => {
      failed = true;
      throw passing;
    });
    await until('the task fails', () => failed);
    outbox.add(async () => {
      sent = true;
    });
    await until('the mail is sent', () => sent);
  });

  it('drops mails beyond its capacity', async () => {
    create({ capacity: 3, concurrency: 1, stopWithinMs: 10 });
    for (let count = 0; count < 5; count += 1) outbox.add(never);
    expect(warnings.map(({ event }) => event)).to.deep.equal(['auth.mail.dropped', 'auth.mail.dropped']);
  });

  it('sends waiting mails for a moment before it stops, and logs how many are lost', async () => {
    create({ concurrency: 1 });
    let sent = 0;
    for (let count = 0; count < 3; count += 1) {
      outbox.add(async () => {
        sent += 1;
      });
    }
    await outbox.stop();
    expect(sent).to.equal(3);
    expect(warnings).to.deep.equal([]);

    create({ concurrency: 1, stopWithinMs: 20 });
    for (let count = 0; count < 3; count += 1) outbox.add(never);
    const started = Date.now();
    await outbox.stop();
    expect(Date.now() - started).to.be.lessThan(5_000);
    expect(warnings.at(-1)).to.deep.equal({ event: 'auth.mail.lost', fields: { lost: 2 } });
    outbox.add(never);
    expect(warnings.at(-1)?.event).to.equal('auth.mail.dropped');
  });
});
