// Short-lived signatures for addresses of content, since pictures and players send no header.
import { createHmac, timingSafeEqual } from 'node:crypto';

/** Signs a subject (a path, or the id of an artifact) for a while: `expiry.signature`, both safe in a URL. */
export class ContentTokens {
  readonly #secret: Buffer;
  readonly #now: () => number;

  /**
   * @param secret at least 32 bytes, kept with the store so that tokens outlive a restart
   * @param now milliseconds since 1970
   */
  constructor(secret: Buffer, now: () => number = Date.now) {
    if (secret.length < 32) throw new RangeError(`a secret of ${secret.length} bytes is too short; it needs 32`);
    this.#secret = secret;
    this.#now = now;
  }

  /** A token for `subject` that holds for `seconds` from now. */
  issue(subject: string, seconds: number): string {
    const expiry = Math.ceil(this.#now() / 1000 + seconds).toString(36);
    return `${expiry}.${this.#sign(subject, expiry).toString('base64url')}`;
  }

  /** Whether the token was issued for this subject and still holds. Takes the same time whatever is wrong with it. */
  verify(subject: string, token: string): boolean {
    const [expiry = '', signature = ''] = token.split('.', 2);
    const given = Buffer.from(signature, 'base64url');
    const expected = this.#sign(subject, expiry);
    const isSigned = given.length === expected.length && timingSafeEqual(given, expected);
    return isSigned && Number.parseInt(expiry, 36) * 1000 >= this.#now();
  }

  #sign(subject: string, expiry: string): Buffer {
    return createHmac('sha256', this.#secret).update(`${expiry}\n${subject}`).digest();
  }
}
