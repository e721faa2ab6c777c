import { createSign, generateKeyPairSync, randomBytes } from 'node:crypto';

export interface SelfSignedCertificate {
  /** PEM. */
  readonly key: string;
  readonly cert: string;
}

/** For `localhost` and 127.0.0.1, made now, an authority of itself: Node has no X.509 writer, and a stored one would end. */
export function selfSignedCertificate(): SelfSignedCertificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const day = 86_400_000;
  const name = sequence(set(sequence(oid(0x55, 0x04, 0x03), text('localhost'))));
  const signature = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));
  const isAuthority = sequence(tag(0x01, Buffer.of(0xff)));
  const names = sequence(tag(0x82, Buffer.from('localhost')), tag(0x87, Buffer.of(127, 0, 0, 1)));
  const toBeSigned = sequence(
    tag(0xa0, integer(Buffer.of(2))),
    integer(Buffer.concat([Buffer.of(1), randomBytes(8)])),
    signature,
    name,
    sequence(time(new Date(Date.now() - day)), time(new Date(Date.now() + day))),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    tag(
      0xa3,
      sequence(
        sequence(oid(0x55, 0x1d, 0x13), tag(0x01, Buffer.of(0xff)), tag(0x04, isAuthority)),
        sequence(oid(0x55, 0x1d, 0x11), tag(0x04, names)),
      ),
    ),
  );
  const signed = createSign('sha256').update(toBeSigned).sign(privateKey);
  const der = sequence(toBeSigned, signature, tag(0x03, Buffer.concat([Buffer.of(0), signed])));
  const lines =
    der
      .toString('base64')
      .match(/.{1,64}/g)
      ?.join('\n') ?? '';
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
  };
}

/** DER: tag, length, content (X.690 §8.1). */
function tag(id: number, content: Buffer): Buffer {
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(id, ...size), content]);
}

const sequence = (...parts: readonly Buffer[]) => tag(0x30, Buffer.concat(parts));
const set = (part: Buffer) => tag(0x31, part);
const oid = (...bytes: readonly number[]) => tag(0x06, Buffer.of(...bytes));
const integer = (bytes: Buffer) => tag(0x02, bytes);
const text = (value: string) => tag(0x0c, Buffer.from(value));
const time = (at: Date) =>
  tag(0x17, Buffer.from(at.toISOString().replace(/^20(..)-(..)-(..)T(..):(..):(..).*$/, '$1$2$3$4$5$6Z')));
