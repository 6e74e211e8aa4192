// All op cases.
import { attentionCases } from './attention.js';
import { convolutionCases } from './convolution.js';
import { largeCases } from './large.js';
import { layoutCases } from './layout.js';
import type { OpCase } from './op-case.js';
import { productCases } from './products.js';
import { quantizedCases } from './quantized.js';
import { rowCases } from './rows.js';

export const cases: readonly OpCase[] = [
  ...layoutCases,
  ...rowCases,
  ...productCases,
  ...quantizedCases,
  ...attentionCases,
  ...convolutionCases,
  ...largeCases,
];
