// What goes wrong with bytes that come from elsewhere, by the names that docs/FORMAT.md gives.

/** The bytes are no maze. */
export class FormatError extends Error {
  name = "FormatError";
}

/** The bytes are a maze of a later version of the format. */
export class VersionError extends FormatError {
  name = "VersionError";
}

/** The bytes end before the maze does. */
export class CutShortError extends FormatError {
  name = "CutShortError";
}

/** The rows of a block do not go with those held. */
export class BlockError extends Error {
  name = "BlockError";
}
