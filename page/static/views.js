// The views in the order of their tabs: the name is that of the Rust module that answers the view's calls.
import layouts from "./layouts.js";

export const VIEWS = { layouts };
