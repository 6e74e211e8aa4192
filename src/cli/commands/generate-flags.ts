// The flags of `generate` and `plan`, as the command-line library hands them over.

/** Flags that are not parameters of the request. */
export interface GenerateFlags {
  readonly image?: string;
  readonly video?: string;
  readonly extraBody?: string;
  readonly strict?: boolean;
  readonly output?: string[];
  readonly device?: string;
  readonly threads?: string;
  readonly part?: string[];
  readonly revision?: string;
  readonly dryRun?: boolean;
  readonly from?: string;
  readonly quiet?: boolean;
  readonly json?: boolean;
  readonly debug?: boolean;
  readonly [parameter: string]: unknown;
}
