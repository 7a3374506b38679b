// The views in the order of their tabs: the name is that of the Rust module that answers the view's calls.
import kernels from "./kernels.js";
import layouts from "./layouts.js";
import partitions from "./partitions.js";
import tiles from "./tiles.js";

export const VIEWS = { layouts, partitions, kernels, tiles };
