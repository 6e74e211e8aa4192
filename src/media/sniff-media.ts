// Tells what a file is by its first bytes; names and declared types are not believed.

/** Media types told apart. `mp4` includes QuickTime, `webm` includes Matroska. */
export type MediaType =
  | 'png'
  | 'jpeg'
  | 'webp'
  | 'gif'
  | 'bmp'
  | 'tiff'
  | 'avif'
  | 'mp4'
  | 'webm'
  | 'avi'
  | 'wav'
  | 'mp3'
  | 'ogg'
  | 'flac'
  | 'npy'
  | 'json';

export type MediaKind = 'image' | 'video' | 'sound' | 'array' | 'text';

/** How many leading bytes `sniffMedia` looks at. */
export const sniffLength = 64;

const kinds: Readonly<Record<MediaType, MediaKind>> = {
  png: 'image',
  jpeg: 'image',
  webp: 'image',
  gif: 'image',
  bmp: 'image',
  tiff: 'image',
  avif: 'image',
  mp4: 'video',
  webm: 'video',
  avi: 'video',
  wav: 'sound',
  mp3: 'sound',
  ogg: 'sound',
  flac: 'sound',
  npy: 'array',
  json: 'text',
};

export function mediaKind(type: MediaType): MediaKind {
  return kinds[type];
}

/** The type of the media that begin with `bytes` (at least `sniffLength` of them, or all), or null for anything else. */
export function sniffMedia(bytes: Uint8Array): MediaType | null {
  const text = (from: number, to: number): string => Buffer.from(bytes.subarray(from, to)).toString('latin1');
  const starts = (prefix: string): boolean => text(0, prefix.length) === prefix;
  if (starts('\x89PNG\r\n\x1a\n')) return 'png';
  if (starts('\xff\xd8\xff')) return 'jpeg';
  if (starts('GIF87a') || starts('GIF89a')) return 'gif';
  if (starts('II*\0') || starts('MM\0*')) return 'tiff';
  if (starts('BM') && text(6, 10) === '\0\0\0\0') return 'bmp';
  if (starts('RIFF')) return riffType(text(8, 12));
  if (text(4, 8) === 'ftyp') return isoType(text(8, 12));
  if (['moov', 'mdat', 'wide', 'free', 'skip', 'pnot'].includes(text(4, 8))) return 'mp4';
  if (starts('\x1a\x45\xdf\xa3')) return 'webm';
  if (starts('\x93NUMPY')) return 'npy';
  if (starts('OggS')) return 'ogg';
  if (starts('fLaC')) return 'flac';
  if (starts('ID3') || /^\xff[\xfb\xf3\xf2\xfa]/.test(text(0, 2))) return 'mp3';
  return /^[\s\ufeff]*[[{]/.test(Buffer.from(bytes.subarray(0, sniffLength)).toString('utf8')) ? 'json' : null;
}

function riffType(form: string): MediaType | null {
  if (form === 'WEBP') return 'webp';
  if (form === 'WAVE') return 'wav';
  return form === 'AVI ' ? 'avi' : null;
}

function isoType(brand: string): MediaType | null {
  if (brand === 'avif' || brand === 'avis') return 'avif';
  return ['heic', 'heix', 'hevc', 'mif1', 'msf1'].includes(brand) ? null : 'mp4';
}

/** What the bytes look like, for a message about a file that is none of the accepted types. */
export function describeContent(bytes: Uint8Array): string {
  if (bytes.length === 0) return 'empty';
  const type = sniffMedia(bytes);
  if (type !== null) return type.toUpperCase();
  const head = Buffer.from(bytes.subarray(0, sniffLength));
  if (head.toString('latin1', 4, 8) === 'ftyp') return 'HEIC';
  if (/^\s*<(!doctype|html|\?xml|svg)/i.test(head.toString('utf8'))) return 'HTML or XML';
  return head.every((byte) => byte === 9 || byte === 10 || byte === 13 || byte >= 32) ? 'text' : 'unknown binary data';
}
