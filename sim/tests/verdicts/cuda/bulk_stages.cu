// A warp loads tiles by bulk copies into a ring of two; two warps add them up and give the stages back.
#include <cuda/ptx>
namespace ptx = cuda::ptx;
enum Twin { right, no_empty_wait, no_release, wrong_phase, early_release, one_arrival, no_full_wait };

template <Twin T> __global__ void bulk_stages(const int* in, int* out, int tiles) {
    __shared__ alignas(128) int ring[2][64];
    __shared__ uint64_t full[2], empty[2];
    int t = threadIdx.x, lane = t % 32;
    if (t == 0) {
        for (int s = 0; s < 2; s++) ptx::mbarrier_init(&full[s], 1), ptx::mbarrier_init(&empty[s], T == one_arrival ? 1 : 2);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    __syncthreads();
    if (t >= 64) {
        if (lane) return;
        for (int i = 0; i < tiles; i++) {
            int s = i % 2, phase = i / 2 & 1;
            if (T != no_empty_wait) while (!ptx::mbarrier_try_wait_parity(&empty[s], phase ^ 1));
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[s], 256);
            ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, ring[s], in + i * 64, 256, &full[s]);
        }
    } else {
        int sum = 0;
        for (int i = 0; i < tiles; i++) {
            int s = i % 2, phase = i / 2 & 1;
            if (T != no_full_wait) while (!ptx::mbarrier_try_wait_parity(&full[s], T == wrong_phase ? phase ^ 1 : phase));
            if (T == early_release && lane == 0) ptx::mbarrier_arrive(&empty[s]);
            sum += ring[s][t ^ 7] * (i + 1);
            __syncwarp();
            if (T != early_release && T != no_release && lane == 0) ptx::mbarrier_arrive(&empty[s]);
        }
        out[t] = sum;
    }
}
